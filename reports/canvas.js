/* The canvas of a timeline: what is seen of it, keys, pointer and drawing.
 * What its source is asked for stands in README.md. */
const TIMELINE_KEYS = 'Drag: sum up a range. Shift and drag, A D or a finger: ' +
	'pan. W S, Ctrl or Cmd with the wheel, or two fingers: zoom. 0: all. ' +
	'F: to the selection; M: sum it up. /: search; n N: next and ' +
	'previous. A click on a name folds. Esc: clear.';

const COLOURS = ('#3f84c8 #c26f1f #3f9a4a #c75d68 #8a70c0 #9c7350 #b866a4 ' +
	'#7d7d7d').split(' ');
const ROW = 14, HEAD = 18, GAP = 6, RULER = 24, STRIP = 20, LEAST = 50;
const FONT = '11px ' + getComputedStyle(document.body).fontFamily;

/* Names cut to what matters in a narrow place. */
const shorten = (s) => {
	const py = /^(?:.*[/\\])?([^/\\]+\.py)\((\d+)\): (.+)$/.exec(s);
	if (py)
		return py[3] + ' ' + py[1] + ':' + py[2];
	return s.replace(/^void /, '').replace(/^(?:at::native::|at::)+/, '');
};

const newCanvas = (source) => {
	let width = 0, height = 0, gutter = 150, total = 0;
	let frame = 0, hover = null, drag = null;
	const fingers = new Map(), css = {};
	const canvas = make('canvas', { tabIndex: 0, role: 'application',
		'aria-label': 'Timeline', 'aria-describedby': 'timeline-keys' });
	const view = make('div', { id: 'view' }), spacer = make('div');
	const said = make('div', { id: 'say', 'aria-live': 'polite' });
	const told = make('span', { role: 'status' });
	const tools = make('div', { className: 'tools' });
	const legend = make('ul', { className: 'legend' });
	const search = make('input', { type: 'search', placeholder: 'Search',
		'aria-label': 'Search names' });
	const ctx = canvas.getContext('2d', { alpha: false });
	view.append(canvas, spacer);

	const plot = () => Math.max(width - gutter, 1);
	const xOf = (ns) => gutter + (ns - line.v0) * plot() /
		(line.v1 - line.v0);
	const atX = (x) => line.v0 + (x - gutter) * (line.v1 - line.v0) / plot();
	const tall = (t) => HEAD + t.shown * ROW;
	const topOf = (t) => t.y - (t.isPinned ? 0 : view.scrollTop);

	const layout = () => {
		const ratio = devicePixelRatio || 1;
		total = RULER;
		for (const t of line.tracks) {
			t.y = total += t.strip ? STRIP : 0;
			t.shown = source.rows(t);
			total += tall(t) + GAP;
		}
		width = view.clientWidth;
		gutter = width < 600 ? 100 : 150;
		height = Math.min(Math.max(total, 120), 620);
		canvas.style.height = height + 'px';
		canvas.width = Math.round(width * ratio);
		canvas.height = Math.round(height * ratio);
		ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
		spacer.style.height = Math.max(total - height, 0) + 'px';
		dirty();
	};

	/* Where a slice begins, if it is shown. */
	const placeOf = (s) => {
		const [t, row] = source.place(s);
		return t && row >= 0 && row < t.shown && [xOf(s.start_ns),
			topOf(t) + HEAD + row * ROW];
	};
	const trackAt = (y) => y < RULER ? undefined
		: line.tracks.find((t) => y >= topOf(t) &&
			y < topOf(t) + tall(t) + GAP);
	const sliceAt = (x, y) => {
		const t = trackAt(y);
		const row = t && Math.floor((y - topOf(t) - HEAD) / ROW);
		return x >= gutter && row >= 0 && row < t.shown &&
			source.find(t, row, x) || null;
	};

	const clamp = () => {
		const { span } = line;
		const w = Math.min(Math.max(line.v1 - line.v0, LEAST), span);
		line.v0 = Math.min(Math.max(line.v0, 0), span - w);
		line.v1 = line.v0 + w;
	};
	const setView = (a, b) => {
		line.v0 = a;
		line.v1 = b;
		if (line.isWhole)
			clamp();
		dirty();
		source.moved?.();
	};
	const zoom = (f, c = (line.v0 + line.v1) / 2) =>
		setView(c - (c - line.v0) * f, c + (line.v1 - c) * f);
	const move = (d) => setView(line.v0 + d, line.v1 + d);
	const pan = (part) => move((line.v1 - line.v0) * part);
	const goTo = (s) => {
		const w = Math.max(Math.min(line.v1 - line.v0, s.dur_ns * 40),
			s.dur_ns * 1.2, LEAST);
		const mid = s.start_ns + s.dur_ns / 2;
		select(s);
		source.open(s);
		layout();
		const [, y] = placeOf(s) || [];
		if (y < RULER + HEAD || y > height - ROW)
			view.scrollTop += y - height / 2;
		setView(mid - w / 2, mid + w / 2);
	};

	const dirty = () => {
		frame ||= requestAnimationFrame(draw);
	};

	/* A slice, with as much of its name as fits; one that is no wider has
	 * its column. */
	const paintBox = (x, room, y, colour, name) => {
		const a = Math.max(x, gutter);
		const d = Math.max(Math.min(x + room, width) - a, 1);
		ctx.fillStyle = colour;
		ctx.fillRect(d > 1 ? a : Math.floor(a), y, d > 3 ? d - 1 : d,
			ROW - 1);
		if (d < 28)
			return;
		const s = shorten(name), w = ctx.measureText(s).width;
		const n = w <= d - 6 ? s.length
			: Math.floor((d - 14) * s.length / w);
		ctx.fillStyle = '#0b0e12';
		ctx.fillText(n < s.length ? s.slice(0, n) + '…' : s, a + 3, y + 7);
	};

	const outline = (s, colour) => {
		const [x, y] = s && placeOf(s) || [];
		const a = Math.max(x, gutter);
		const b = Math.min(xOf(s?.start_ns + s?.dur_ns), width);
		if (!(b >= gutter && a <= width))
			return;
		ctx.strokeStyle = colour;
		ctx.lineWidth = 2;
		ctx.strokeRect(a, y, Math.max(b - a - 1, 2), ROW - 1);
	};

	const paintTrack = (t) => {
		const y = topOf(t) + HEAD;
		for (let d = 0; d < t.shown; d++)
			if (y + d * ROW <= height && y + (d + 1) * ROW >= RULER)
				source.paint(t, d, y + d * ROW);
	};

	const paintHead = (t) => {
		const y = topOf(t);
		if (y - STRIP > height || y + tall(t) < 0)
			return;
		const [isOpen, name, note] = source.head(t);
		ctx.fillStyle = css.bg;
		ctx.fillRect(0, y, width, HEAD);
		ctx.fillRect(0, y, gutter - 1, tall(t) + GAP);
		ctx.fillStyle = css.line;
		ctx.fillRect(0, y, width, 1);
		ctx.fillStyle = css.text;
		ctx.fillText((isOpen ? '▾ ' : '▸ ') + name, 6, y + 10);
		ctx.fillStyle = css.muted;
		ctx.fillText(note, Math.max(gutter + 6, 24 +
			ctx.measureText(name).width), y + 10);
		if (t.strip)
			source.strip(t, y - STRIP);
	};

	const paintSteps = ({ steps, shift_ns: d = 0 }, y, h, middle) => {
		for (const [from, to, name] of steps) {
			if (to + d < line.v0 || from + d > line.v1)
				continue;
			const a = Math.max(xOf(from + d), gutter);
			const b = Math.min(xOf(to + d), width);
			ctx.fillStyle = css.soft;
			ctx.fillRect(a, y, Math.max(b - a - 1, 1), h - 1);
			if (b - a > 50) {
				ctx.fillStyle = css.muted;
				ctx.textAlign = 'right';
				ctx.fillText('step ' + name, b - 4, y + middle);
				ctx.textAlign = 'left';
			}
		}
	};

	/* Of ticks those that stand 80 pixels apart, or more. */
	const paintRuler = () => {
		const { v0, v1 } = line, per = (v1 - v0) / plot() * 80;
		const ten = 10 ** Math.floor(Math.log10(per));
		const step = ten * [1, 2, 5, 10].find((m) => m * ten >= per);
		const [unit, sign] = UNITS.findLast(([u]) => u <= v1);
		const digits = Math.max(Math.ceil(Math.log10(unit / step)), 0);
		ctx.fillStyle = css.bg;
		ctx.fillRect(0, 0, width, RULER);
		paintSteps(source.steps(), 0, RULER, 7);
		ctx.fillStyle = css.muted;
		for (let at = Math.ceil(v0 / step) * step; at <= v1; at += step) {
			const x = xOf(at);
			ctx.fillRect(x, RULER - 6, 1, 6);
			if (x < width - 80)
				ctx.fillText((at / unit).toFixed(digits) + sign,
					x + 3, RULER - 7);
		}
		ctx.fillStyle = css.bg;
		ctx.fillRect(0, 0, gutter - 1, RULER);
		ctx.fillStyle = css.muted;
		ctx.fillText(time(v1 - v0), 6, RULER - 7);
	};

	const paint = (list) => {
		list.forEach(paintTrack);
		if (line.range) {
			const [a, b] = line.range.map(xOf);
			ctx.fillStyle = css.link;
			ctx.globalAlpha = 0.2;
			ctx.fillRect(a, RULER, Math.max(b - a, 1), height);
			ctx.globalAlpha = 1;
		}
		outline(hover, css.muted);
		outline(line.selected, css.text);
		source.under?.();
		list.forEach(paintHead);
	};

	const draw = () => {
		frame = 0;
		const style = getComputedStyle(document.documentElement);
		for (const k of 'bg soft text muted line bad link'.split(' '))
			css[k] = style.getPropertyValue('--' + k).trim();
		ctx.font = FONT;
		ctx.textBaseline = 'middle';
		ctx.fillStyle = css.bg;
		ctx.fillRect(0, 0, width, height);
		source.begin?.();
		paint(line.tracks);
		paintRuler();
		source.over?.();
	};

	const select = (s) => {
		line.selected = s;
		said.replaceChildren();
		if (s) {
			const [name, what] = source.words(s);
			said.append(make('code', {}, name), make('div', {}, what));
		}
		source.tell(s);
		dirty();
	};
	const highlight = (text) => {
		line.query = text.trim().toLowerCase();
		source.search();
		dirty();
	};

	const button = (text, run) => {
		const b = make('button', { type: 'button' }, text);
		b.addEventListener('click', run);
		return b;
	};
	const nearer = () => zoom(0.7), farther = () => zoom(1.43);
	const back = () => pan(-0.2), on = () => pan(0.2);
	const all = () => setView(0, line.span);
	tools.append(button('Zoom in', nearer), button('Zoom out', farther),
		button('All', all), search, told);
	search.addEventListener('input', () => highlight(search.value));
	search.addEventListener('keydown', (e) => {
		if (e.key === 'Enter') {
			canvas.focus();
			source.step(e.shiftKey ? -1 : 1);
		}
	});

	/* Of what is selected, or of the range. */
	const ofChosen = (run) => () => {
		const { selected: s, range } = line;
		if (s || range)
			run(...s ? [s.start_ns, s.start_ns + Math.max(s.dur_ns, 1)]
				: range);
	};
	const keys = {
		__proto__: null,
		w: nearer, '+': nearer, '=': nearer, s: farther, '-': farther,
		a: back, ArrowLeft: back, d: on, ArrowRight: on,
		ArrowUp: () => { view.scrollTop -= 60; },
		ArrowDown: () => { view.scrollTop += 60; },
		0: all,
		f: ofChosen(setView), m: ofChosen(source.ask),
		'/': () => search.focus(),
		n: () => source.step(1), N: () => source.step(-1),
		Escape: () => {
			search.value = '';
			highlight('');
			select(null);
			source.clear?.();
		},
	};
	canvas.addEventListener('keydown', (e) => {
		const run = !e.ctrlKey && !e.metaKey && !e.altKey &&
			(keys[e.key] || keys[e.key.toLowerCase()]);
		if (run) {
			e.preventDefault();
			e.stopPropagation(); /* the page's own keys */
			run();
		}
	});

	canvas.addEventListener('pointerdown', (e) => {
		const x = e.offsetX;
		if (e.button)
			return;
		canvas.setPointerCapture(e.pointerId);
		fingers.set(e.pointerId, x);
		drag = { x, y: e.offsetY, moved: fingers.size > 1,
			isPan: e.shiftKey || e.pointerType === 'touch',
			held: [...fingers.values()].map(atX) };
	});
	/* What two fingers held stays under them. */
	const pinch = () => {
		const [p, q] = fingers.values(), [a, b] = drag.held;
		const per = (b - a) / (q - p);
		if (per > 0 && per < Infinity)
			setView(a - (p - gutter) * per, a + (width - p) * per);
	};
	canvas.addEventListener('pointermove', (e) => {
		const x = e.offsetX;
		if (!drag) {
			hover = sliceAt(x, e.offsetY);
			canvas.title = hover ? source.words(hover).join('\n') : '';
			dirty();
			return;
		}
		fingers.set(e.pointerId, x);
		drag.moved ||= Math.abs(x - drag.x) > 3;
		if (!drag.moved)
			return;
		if (fingers.size > 1) {
			pinch();
		} else if (drag.isPan) {
			move(drag.held[0] - atX(x));
		} else {
			line.range = [drag.held[0], atX(x)].map((ns) =>
				Math.min(Math.max(ns, line.v0), line.span))
				.sort((a, b) => a - b);
			dirty();
		}
	});
	const release = (e) => {
		const was = drag;
		fingers.delete(e.pointerId);
		drag = null;
		return was;
	};
	canvas.addEventListener('pointerup', (e) => {
		const { offsetX: x, offsetY: y } = e, { range } = line;
		const was = release(e);
		if (was?.moved) {
			if (!was.isPan && range && range[1] > range[0] + 1)
				source.ask(...range, trackAt(was.y));
			return;
		}
		const t = was && trackAt(y);
		if (t && (x < gutter || y < topOf(t) + HEAD)) {
			source.fold(t);
			layout();
		} else if (was) {
			select(sliceAt(x, y));
		}
	});
	canvas.addEventListener('pointercancel', release);
	canvas.addEventListener('pointerleave', () => {
		hover = null;
		dirty();
	});
	canvas.addEventListener('wheel', (e) => {
		const isZoom = e.ctrlKey || e.metaKey;
		if (!isZoom && Math.abs(e.deltaX) <= Math.abs(e.deltaY))
			return;
		e.preventDefault();
		if (isZoom)
			zoom(e.deltaY < 0 ? 0.8 : 1.25,
				atX(Math.max(e.offsetX, gutter)));
		else
			pan(e.deltaX / plot());
	}, { passive: false });
	view.addEventListener('scroll', dirty);
	/* not while sizes are told */
	new ResizeObserver(() => requestAnimationFrame(() => {
		if (view.clientWidth && view.clientWidth !== width) {
			layout();
			draw();
		}
	})).observe(view);
	matchMedia('(prefers-color-scheme: dark)').addEventListener('change',
		dirty);

	const line = {
		v0: 0, v1: LEAST, span: LEAST, isWhole: false,
		tracks: [], range: null, selected: null, query: '',
		nodes: [tools, view, legend, make('p', { id: 'timeline-keys',
			className: 'note' }, TIMELINE_KEYS), said],
		ctx, css, said, told, search, plot, xOf, atX, layout, placeOf,
		clamp, setView, dirty, draw, paintBox, paintSteps, select,
		goTo, button, canvas, trackAt, paint,
		/* Buttons to what launched a slice, or what it launched. */
		lead: (slices, isLaunch) => said.append(make('div',
			{ className: 'tools' }, ...slices.map((s) => button(
				isLaunch ? 'Go to its launch'
					: 'Go to its GPU work', () => goTo(s))))),
		explain(name, colour) {
			const box = make('span', { className: 'swatch' });
			box.style.background = colour;
			legend.append(make('li', {}, box, name));
		},
	};
	return line;
};
