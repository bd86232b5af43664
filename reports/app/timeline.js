/*
 * The view of all events: a canvas of what "profan timeline" says is drawn at
 * a resolution.  What was asked last is held, and drawn from until the next
 * answer comes; the whole capture is held, too, for what lies beside.
 */

const TIMELINE_KEYS = 'Drag: ask of a range. Shift and drag, or A D and ' +
	'arrows: pan. W S, or Ctrl or Cmd with the wheel: zoom. 0: all. ' +
	'F: to the selection; M: ask of it. /: search; n N: next and ' +
	'previous. A click on a name at the left folds. Esc: clear.';
const QUESTIONS = ['gaps', 'kernels', 'overlap', 'syncs']; /* of a range */
const FRESH = 0.6; /* of the columns that there could be: then ask again */

/* A text of SQL. */
const sqlText = (s) => "'" + s.replaceAll("'", "''") + "'";
const sqlLike = (s) => sqlText('%' + s.replace(/[\\%_]/g, '\\$&') + '%') +
	" ESCAPE '\\'";

/* Where a trace begins on the clock that events have. */
const ORIGIN = '(SELECT min(first_ns) FROM track AS f WHERE ' +
	'f.trace_id = e.trace_id AND f.event_count > 0)';

/* What the program said, by track and depth. */
const pictureOf = (text) => {
	const { scalars, tables } = JSON.parse(text);
	const names = new Map(tables.names.map((n) => [n.name, n.text]));
	const colours = new Map(tables.classes.map((c, i) =>
		[c.class, COLOURS[i]]));
	const rows = new Map(), found = new Map();
	for (const s of tables.slices) {
		const track = rows.get(s.track) || [];
		rows.set(s.track, track);
		s.text = names.get(s.name);
		s.colour = colours.get(s.class);
		(track[s.depth] ||= []).push(s);
		if (s.event_id !== null)
			found.set(s.event_id, s);
	}
	return { from: scalars.from_ns, to: scalars.to_ns,
		pixels: scalars.pixels, tracks: tables.tracks, rows, found,
		steps: tables.steps, classes: tables.classes };
};

const newTimeline = (args) => {
	let whole = null, held = null, span = LEAST, v0 = 0, v1 = LEAST;
	let width = 0, height = 0, gutter = 150, total = 0, tracks = [];
	let range = null, selected = null, partners = [], hover = null;
	let query = '', isDirty = false, isAsking = false, isReady = false;
	const folded = new Set(), depths = new Map(), css = {};

	const canvas = make('canvas', { tabIndex: 0, role: 'application',
		'aria-label': 'Timeline', 'aria-describedby': 'timeline-keys' });
	const view = make('div', { id: 'view' }), spacer = make('div');
	const said = make('div', { id: 'say', 'aria-live': 'polite' });
	const told = make('span', { role: 'status' });
	const tools = make('div', { className: 'tools' });
	const legend = make('ul', { className: 'legend' });
	const ctx = canvas.getContext('2d', { alpha: false });
	view.append(canvas, spacer);

	/* -- where things are -- */

	const plot = () => Math.max(width - gutter, 1);
	const xOf = (ns) => gutter + (ns - v0) * plot() / (v1 - v0);
	const atX = (x) => v0 + (x - gutter) * (v1 - v0) / plot();

	const layout = () => {
		let y = RULER;
		for (const t of tracks) {
			t.y = y;
			t.shown = folded.has(t.track) ? 0
				: depths.get(t.track) || 0;
			y += HEAD + t.shown * ROW + GAP;
		}
		total = y;
		const ratio = devicePixelRatio || 1;
		width = view.clientWidth;
		gutter = width < 600 ? 90 : 150;
		height = Math.min(Math.max(total, 120), 620);
		canvas.style.height = height + 'px';
		canvas.width = Math.round(width * ratio);
		canvas.height = Math.round(height * ratio);
		ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
		spacer.style.height = Math.max(total - height, 0) + 'px';
	};

	/* -- asking -- */

	const ask = async (more) => pictureOf((await runWell(['timeline',
		...args, ...more, '--limit', '-1', '--format', 'json'])).out);

	const learn = (p) => {
		for (const t of p.tracks)
			depths.set(t.track, Math.max(t.depths,
				depths.get(t.track) || 0));
		const known = new Map(tracks.map((t) => [t.track, t]));
		const before = total + ' ' + tracks.length;
		tracks = [...tracks, ...p.tracks.filter((t) =>
			!known.has(t.track))].filter((t) =>
			t.events || depths.get(t.track));
		layout();
		if (before !== total + ' ' + tracks.length)
			dirty();
	};

	const isGood = () => {
		const finest = whole && plot() / (v1 - v0) * FRESH;
		const good = (p) => p && p.from <= Math.max(v0, 0) &&
			p.to >= Math.min(v1, span) &&
			p.pixels / Math.max(p.to - p.from, 1) >= finest;
		return good(held) || (good(whole) && whole);
	};

	/* Ask for what is seen, with as much at both sides, if it is not held. */
	const refresh = async () => {
		if (isAsking || !whole || !isReady || !canvas.isConnected ||
		    isGood())
			return;
		isAsking = true;
		try {
			const w = v1 - v0;
			const from = Math.max(Math.floor(v0 - w / 2), 0);
			const to = Math.ceil(Math.min(v1 + w / 2, span)) + 1;
			held = await ask(['--from', from + 'ns', '--to', to +
				'ns', '--pixels', String(Math.min(Math.ceil(
				plot() * (to - from) / w), 100000))]);
			learn(held);
		} catch (e) {
			if (!(e instanceof Stopped))
				told.textContent = sentenceOf(e);
			isReady = e instanceof Stopped;
		}
		isAsking = false;
		dirty();
		if (isReady)
			refresh();
	};

	/* The first picture: GPU streams and steps, then the rest. */
	const begin = async () => {
		layout();
		for (const which of ['gpu', 'all']) {
			const p = await ask(['--tracks', which, '--pixels',
				String(plot())]);
			if (which === 'gpu' && !p.tracks.length)
				continue;
			const isFirst = !whole;
			whole = p;
			span = Math.max(p.to, span);
			if (isFirst && v1 === LEAST)
				v1 = span;
			legend.replaceChildren(...p.classes.map((c, i) => {
				const box = make('span', { className: 'swatch' });
				box.style.background = COLOURS[i];
				return make('li', {}, box, c.class);
			}));
			if (which === 'all')
				tracks = [];
			learn(p);
			dirty();
		}
		isReady = true;
		clamp();
		refresh();
	};

	/* -- moving -- */

	let writing = 0;
	const remember = () => {
		clearTimeout(writing);
		writing = setTimeout(() => {
			if (!canvas.isConnected || !isReady)
				return;
			const at = Math.round(v0) + '..' + Math.round(v1);
			history.replaceState(null, '', hrefOf({ at }));
			$('main').dataset.at = location.hash;
		}, 150);
	};
	const clamp = () => {
		const w = Math.min(Math.max(v1 - v0, LEAST), span);
		v0 = Math.min(Math.max(v0, 0), span - w);
		v1 = v0 + w;
	};
	const setView = (a, b) => {
		v0 = a;
		v1 = b;
		if (isReady)
			clamp();
		dirty();
		refresh();
		remember();
	};
	const zoom = (f, c = (v0 + v1) / 2) =>
		setView(c - (c - v0) * f, c + (v1 - c) * f);
	const pan = (part) =>
		setView(v0 + (v1 - v0) * part, v1 + (v1 - v0) * part);

	/* -- drawing -- */

	const dirty = () => {
		if (isDirty)
			return;
		isDirty = true;
		requestAnimationFrame(() => {
			isDirty = false;
			draw();
		});
	};

	const fit = (s, room) => {
		const w = ctx.measureText(s).width;
		const n = w <= room ? s.length
			: Math.floor((room - 8) * s.length / w);
		return n >= s.length ? s : n > 1 ? s.slice(0, n) + '…' : '';
	};

	const paintRow = (row, y, from, to) => {
		for (const s of row) {
			if (s.start_ns > to || s.start_ns + s.dur_ns < from)
				continue;
			const a = Math.max(xOf(s.start_ns), gutter);
			const b = Math.min(xOf(s.start_ns + s.dur_ns), width);
			const d = Math.max(b - a, 1);
			if (b < gutter || a > width)
				continue;
			ctx.globalAlpha = query && !s.text.toLowerCase()
				.includes(query) ? 0.15 : 1;
			ctx.fillStyle = s.colour;
			/* its column, if it is no wider */
			ctx.fillRect(d > 1 ? a : Math.floor(a), y, d > 3 ? d - 1
				: d, ROW - 1);
			if (d >= 28) {
				ctx.fillStyle = '#0b0e12';
				ctx.fillText(fit(shorten(s.text), d - 6), a + 3,
					y + 7);
			}
		}
		ctx.globalAlpha = 1;
	};

	/* What is held lies over what is known of the whole. */
	const layers = () => {
		const best = isGood();
		const isHeld = held && held.from < v1 && held.to > v0 &&
			held.pixels / (held.to - held.from) >
			whole.pixels / Math.max(whole.to - whole.from, 1);
		if (best === whole || !isHeld)
			return [[whole, v0, v1]];
		return held.from <= v0 && held.to >= v1 ? [[held, v0, v1]]
			: [[whole, v0, v1], [held, held.from, held.to]];
	};

	const paintTrack = (t, top, all) => {
		const y = t.y - top;
		if (y > height || y + HEAD + t.shown * ROW < RULER)
			return;
		for (const [p, from, to] of all) {
			const a = Math.max(xOf(from), gutter);
			ctx.fillStyle = css.bg;
			ctx.fillRect(a, y + HEAD, Math.min(xOf(to), width) - a,
				t.shown * ROW);
			(p.rows.get(t.track) || []).slice(0, t.shown).forEach(
				(row, d) => paintRow(row, y + HEAD + d * ROW,
					from, to));
		}
	};

	const paintHead = (t, top) => {
		const y = t.y - top;
		if (y > height || y + HEAD + t.shown * ROW < 0)
			return;
		ctx.fillStyle = css.bg;
		ctx.fillRect(0, y, width, HEAD);
		ctx.fillRect(0, y, gutter - 1, HEAD + t.shown * ROW + GAP);
		ctx.fillStyle = css.line;
		ctx.fillRect(0, y, width, 1);
		ctx.fillStyle = css.text;
		const name = (folded.has(t.track) ? '▸ ' : '▾ ') + t.label;
		ctx.fillText(name, 6, y + 10);
		ctx.fillStyle = css.muted;
		ctx.fillText((t.rank === null ? '' : 'rank ' + t.rank + ', ') +
			count(t.events), Math.max(gutter + 6, 18 +
			ctx.measureText(name).width), y + 10);
	};

	const paintRuler = (steps) => {
		ctx.fillStyle = css.bg;
		ctx.fillRect(0, 0, width, RULER);
		for (const s of steps) {
			if (s.trace_id !== tracks[0]?.trace_id ||
			    s.to_ns < v0 || s.from_ns > v1)
				continue;
			const a = Math.max(xOf(s.from_ns), gutter);
			const b = Math.min(xOf(s.to_ns), width);
			ctx.fillStyle = css.soft;
			ctx.fillRect(a, 0, Math.max(b - a - 1, 1), RULER - 1);
			if (b - a > 50) {
				ctx.fillStyle = css.muted;
				ctx.textAlign = 'right';
				ctx.fillText('step ' + s.step, b - 4, 7);
				ctx.textAlign = 'left';
			}
		}
		ctx.fillStyle = css.muted;
		paintTicks(ctx, v0, v1, xOf, width);
		ctx.fillStyle = css.bg;
		ctx.fillRect(0, 0, gutter - 1, RULER);
		ctx.fillStyle = css.muted;
		ctx.fillText(time(v1 - v0), 6, RULER - 7);
	};

	/* The middle of a slice at the left, if its track is unfolded. */
	const placeOf = (s) => {
		const t = tracks.find((k) => k.track === s.track);
		return t && s.depth < t.shown && [xOf(s.start_ns), t.y + HEAD +
			s.depth * ROW - view.scrollTop];
	};

	const outline = (s, colour) => {
		const [, y] = placeOf(s) || [];
		const a = Math.max(xOf(s.start_ns), gutter);
		const b = Math.min(xOf(s.start_ns + s.dur_ns), width);
		if (y === undefined || b < gutter || a > width)
			return;
		ctx.strokeStyle = colour;
		ctx.lineWidth = 2;
		ctx.strokeRect(a, y, Math.max(b - a - 1, 2), ROW - 1);
	};

	/* From a call to what it launched. */
	const arrow = (from, to) => {
		const a = placeOf(from), b = placeOf(to);
		if (!a || !b)
			return;
		const [x, y] = [b[0], b[1] + ROW / 2];
		ctx.strokeStyle = ctx.fillStyle = css.text;
		ctx.lineWidth = 1;
		ctx.beginPath();
		ctx.moveTo(a[0], a[1] + ROW / 2);
		ctx.lineTo(x, y);
		ctx.stroke();
		ctx.fillRect(x - 2, y - 2, 5, 5);
	};

	const draw = () => {
		const style = getComputedStyle(document.documentElement);
		for (const k of ['bg', 'soft', 'text', 'muted', 'line', 'link'])
			css[k] = style.getPropertyValue('--' + k).trim();
		ctx.font = FONT;
		ctx.textBaseline = 'middle';
		ctx.fillStyle = css.bg;
		ctx.fillRect(0, 0, width, height);
		if (!whole) {
			ctx.fillStyle = css.muted;
			ctx.fillText('Reading…', gutter, RULER + 20);
			return;
		}
		const all = layers(), top = view.scrollTop;
		for (const t of tracks)
			paintTrack(t, top, all);
		if (range) {
			const a = Math.max(xOf(range[0]), gutter);
			ctx.fillStyle = css.link;
			ctx.globalAlpha = 0.2;
			ctx.fillRect(a, RULER, Math.max(xOf(range[1]) - a, 1),
				height);
			ctx.globalAlpha = 1;
		}
		if (hover)
			outline(hover, css.muted);
		if (selected)
			outline(selected, css.text);
		for (const [from, to] of partners)
			arrow(from, to);
		for (const t of tracks)
			paintHead(t, top);
		paintRuler(all.at(-1)[0].steps);
	};

	/* -- events -- */

	const trackAt = (y) => {
		const at = y + view.scrollTop;
		return y < RULER ? undefined : tracks.find((t) => at >= t.y &&
			at < t.y + HEAD + t.shown * ROW + GAP);
	};

	const sliceAt = (x, y) => {
		const t = trackAt(y), px = (v1 - v0) / plot();
		if (!t || x < gutter || !whole)
			return null;
		const d = Math.floor((y + view.scrollTop - t.y - HEAD) / ROW);
		const row = d < t.shown && layers().at(-1)[0].rows
			.get(t.track)?.[d];
		return (row || []).find((s) => s.start_ns <= atX(x) &&
			s.start_ns + Math.max(s.dur_ns, px) >= atX(x)) || null;
	};

	const rowsOfQuery = async (sql) => Object.values(parseDocument(
		(await runWell(['query', args[0], sql, '--format', 'json']))
			.out).tables)[0] || [];

	/* An event as it would be drawn; its depth is known if it is. */
	const sliceOf = (e) => (held?.found.get(e.id) ||
		whole.found.get(e.id) || { event_id: e.id, track: e.track_id,
		depth: Infinity, start_ns: e.at_ns, dur_ns: e.dur_ns,
		text: e.name });
	const EVENT = 'e.id, e.track_id, e.name, e.dur_ns, e.start_ns - ' +
		ORIGIN + ' AS at_ns';

	const reveal = (s) => {
		const w = Math.max(Math.min(v1 - v0, s.dur_ns * 40),
			s.dur_ns * 1.2, LEAST);
		const mid = s.start_ns + s.dur_ns / 2;
		folded.delete(s.track);
		layout();
		const place = placeOf(s);
		if (place && (place[1] < RULER || place[1] > height - ROW))
			view.scrollTop += place[1] - height / 2;
		setView(mid - w / 2, mid + w / 2);
	};

	const select = async (s) => {
		selected = s;
		partners = [];
		said.replaceChildren();
		dirty();
		if (!s)
			return;
		const where = tracks.find((t) => t.track === s.track);
		said.append(make('code', {}, s.text), make('div', {},
			[s.class, time(s.dur_ns) + ' from ' + time(s.start_ns),
				where?.label].filter(Boolean).join(', ')));
		if (s.event_id === null || s.event_id === undefined)
			return;
		try {
			const id = s.event_id;
			const event = (await rowsOfQuery('SELECT * FROM event ' +
				'WHERE id = ' + id))[0];
			const others = await rowsOfQuery('SELECT ' + EVENT +
				', e.id = g.launch_id AS is_launch FROM ' +
				'gpu_event AS g JOIN event AS e ON e.id = ' +
				'CASE WHEN g.event_id = ' + id + ' THEN ' +
				'g.launch_id ELSE g.event_id END WHERE ' +
				'g.event_id = ' + id + ' OR g.launch_id = ' + id);
			if (selected !== s)
				return;
			partners = others.map((e) => e.is_launch
				? [sliceOf(e), s] : [s, sliceOf(e)]);
			const go = (e) => {
				const b = make('button', { type: 'button' },
					e.is_launch ? 'Go to its launch'
						: 'Go to its GPU work');
				b.addEventListener('click', () => {
					const to = sliceOf(e);
					select(to);
					reveal(to);
				});
				return b;
			};
			if (others.length)
				said.append(make('div', { className: 'tools' },
					...others.slice(0, 4).map(go)));
			const list = make('dl', { className: 'facts' });
			for (const [k, v] of Object.entries(event || {}))
				if (!isNothing(v))
					list.append(make('div', {},
						make('dt', {}, k), make('dd', {},
							String(v))));
			said.append(make('details', {}, make('summary', {},
				'As the trace has it'), list));
			dirty();
		} catch (e) {
			said.append(make('p', { className: 'error' },
				sentenceOf(e)));
		}
	};

	/* -- searching: what is drawn at once, then all events -- */

	const highlight = async (text) => {
		const mine = query = text.trim().toLowerCase();
		told.textContent = '';
		dirty();
		if (!query)
			return;
		try {
			const [{ n }] = await rowsOfQuery('SELECT count(*) AS ' +
				'n FROM event AS e WHERE e.name LIKE ' +
				sqlLike(query));
			if (query === mine)
				told.textContent = count(n) + ' found';
		} catch (e) {
			told.textContent = sentenceOf(e);
		}
	};

	const step = async (way) => {
		if (!query || !whole)
			return;
		const at = Math.round(selected ? selected.start_ns
			: way > 0 ? v0 - 1 : v1);
		const rows = await rowsOfQuery('SELECT ' + EVENT +
			' FROM event AS e JOIN track AS t ON t.id = ' +
			"e.track_id WHERE t.class IN ('host', 'gpu') AND " +
			'e.name LIKE ' + sqlLike(query) + ' AND at_ns ' +
			(way > 0 ? '> ' : '< ') + at + ' ORDER BY at_ns ' +
			(way > 0 ? '' : 'DESC ') + 'LIMIT 1');
		if (rows.length) {
			const s = sliceOf(rows[0]);
			select(s);
			reveal(s);
		} else {
			told.textContent = 'no more';
		}
	};

	/* -- controls -- */

	for (const [text, run] of [['Zoom in', () => zoom(0.7)],
		['Zoom out', () => zoom(1.43)], ['All', () => setView(0, span)]]) {
		const b = make('button', { type: 'button' }, text);
		b.addEventListener('click', run);
		tools.append(b);
	}
	const search = make('input', { type: 'search', placeholder: 'Search',
		'aria-label': 'Search names' });
	search.addEventListener('change', () => highlight(search.value));
	search.addEventListener('keydown', (e) => {
		if (e.key === 'Enter') {
			highlight(search.value);
			canvas.focus();
			step(e.shiftKey ? -1 : 1).catch(complain);
		}
	});
	tools.append(search, told);

	const askOf = (a, b) => {
		range = [Math.max(Math.round(a), 0), Math.round(b)];
		go({ from: range[0] + 'ns', to: range[1] + 'ns' });
	};
	const keys = {
		__proto__: null,
		w: () => zoom(0.7), '+': () => zoom(0.7), '=': () => zoom(0.7),
		s: () => zoom(1.43), '-': () => zoom(1.43),
		a: () => pan(-0.2), ArrowLeft: () => pan(-0.2),
		d: () => pan(0.2), ArrowRight: () => pan(0.2),
		ArrowUp: () => { view.scrollTop -= 60; },
		ArrowDown: () => { view.scrollTop += 60; },
		0: () => setView(0, span),
		f: () => selected ? setView(selected.start_ns,
			selected.start_ns + selected.dur_ns)
			: range && setView(...range),
		m: () => selected && askOf(selected.start_ns,
			selected.start_ns + Math.max(selected.dur_ns, 1)),
		'/': () => search.focus(),
		n: () => step(1).catch(complain),
		N: () => step(-1).catch(complain),
		Escape: () => {
			search.value = '';
			highlight('');
			select(null);
			if (range)
				go({ from: '', to: '' });
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

	let drag = null;
	const place = (e) => {
		const r = canvas.getBoundingClientRect();
		return [e.clientX - r.left, e.clientY - r.top];
	};
	canvas.addEventListener('pointerdown', (e) => {
		const [x, y] = place(e);
		if (e.button)
			return;
		drag = { x, y, v0, v1, moved: false,
			isPan: e.shiftKey || e.pointerType === 'touch' };
		canvas.setPointerCapture(e.pointerId);
	});
	canvas.addEventListener('pointermove', (e) => {
		const [x, y] = place(e);
		if (!drag) {
			const s = sliceAt(x, y);
			if (s !== hover) {
				hover = s;
				canvas.title = s ? s.text + '\n' + s.class +
					', ' + time(s.dur_ns) : '';
				dirty();
			}
			return;
		}
		drag.moved ||= Math.abs(x - drag.x) > 3;
		if (!drag.moved)
			return;
		if (drag.isPan) {
			const d = (drag.x - x) * (drag.v1 - drag.v0) / plot();
			setView(drag.v0 + d, drag.v1 + d);
		} else {
			const [a, b] = [drag.x, x].map((k) =>
				Math.min(Math.max(atX(Math.max(k, gutter)), 0),
					span)).sort((p, q) => p - q);
			range = [a, b];
			dirty();
		}
	});
	canvas.addEventListener('pointerup', (e) => {
		const [x, y] = place(e), was = drag;
		drag = null;
		if (!was)
			return;
		if (was.moved) {
			if (!was.isPan && range && range[1] > range[0] + 1)
				askOf(...range);
			return;
		}
		const t = trackAt(y);
		if (t && (y + view.scrollTop < t.y + HEAD || x < gutter)) {
			if (!folded.delete(t.track))
				folded.add(t.track);
			layout();
			dirty();
		} else {
			select(sliceAt(x, y));
		}
	});
	canvas.addEventListener('pointercancel', () => { drag = null; });
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
				atX(Math.max(place(e)[0], gutter)));
		else
			pan(e.deltaX / plot());
	}, { passive: false });
	view.addEventListener('scroll', dirty);
	new ResizeObserver(() => {
		if (view.clientWidth && view.clientWidth !== width) {
			layout();
			draw();
			refresh();
		}
	}).observe(view);
	matchMedia('(prefers-color-scheme: dark)').addEventListener('change',
		dirty);

	const node = make('div', {}, tools, view, legend, make('p',
		{ id: 'timeline-keys', className: 'note' }, TIMELINE_KEYS), said);
	let hasBegun = false;
	return {
		node, args,
		/* What the address says; the node is in the page. */
		show(options) {
			const at = /^(\d+)\.\.(\d+)$/.exec(options.get('at') || '');
			const ns = (k) => /^(\d+)ns$/.exec(options.get(k) || '')?.[1];
			const from = ns('from'), to = ns('to');
			range = from && to ? [Number(from), Number(to)] : null;
			if (at) {
				[v0, v1] = [Number(at[1]), Number(at[2])];
			} else if (range && (range[0] < v0 || range[1] > v1 ||
			    !hasBegun || range[1] - range[0] < (v1 - v0) / 50)) {
				const room = (range[1] - range[0]) * 0.3 + LEAST;
				[v0, v1] = [range[0] - room, range[1] + room];
			}
			if (!hasBegun) {
				hasBegun = true;
				layout();
				begin().catch((e) => {
					hasBegun = false;
					told.textContent = sentenceOf(e);
				});
			} else {
				setView(v0, v1);
			}
		},
		/* For tests: what is seen, and whether it is all there is. */
		state: () => ({ v0, v1, span, range, folded: folded.size,
			tracks: tracks.map((t) => ({ ...t, depth:
				depths.get(t.track) })),
			isGood: isReady && !isAsking && Boolean(isGood()),
			selected, partners: partners.length }),
		xOf, placeOf,
		drawn: () => layers().at(-1)[0],
	};
};

/* ---- the view ---- */

let chart = null; /* of the capture that was shown last */

/* Options of a part that a timeline is of: all but the range. */
const timelineOf = ({ options }) => {
	const args = [shown.db, ...optionsOf('timeline').filter((o) =>
		WINDOW.includes(o.name) && !['from', 'to'].includes(o.name) &&
		options.get(o.name)).flatMap((o) =>
		wordsOf(o, options.get(o.name)))];
	if (chart?.args.join('\0') !== args.join('\0') ||
	    chart.blob !== shown.blob)
		chart = { ...newTimeline(args), blob: shown.blob };
	return chart;
};

/* The same questions as other views ask, of the range. */
const showRange = async ({ options }, isWanted) => {
	if (!options.get('from') || !options.get('to'))
		return [make('p', { className: 'note' }, 'Drag over a range: ' +
			'its tables stand here.')];
	const nodes = [];
	for (const command of QUESTIONS) {
		const args = argsOf({ command, options });
		const view = VIEWS.find((v) => v.commands.includes(command));
		nodes.push(make('h3', {}, make('a', { href: hrefOf({
			view: view.id, of: command }) }, view.title)));
		try {
			const { out } = await answerOf(args, isWanted);
			nodes.push(commandLine(commandText(args)), make('div',
				{ className: 'of-' + command },
				showDocument(out, commands.get(command),
					csvOf(args))));
		} catch (e) {
			nodes.push(make('p', { className: 'error' },
				sentenceOf(e)));
		}
	}
	return nodes;
};
