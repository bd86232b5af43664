(() => {
const root = document.documentElement;
root.classList.add('js');

addLife(document);

let opened = [];
addEventListener('beforeprint', () => {
	opened = [...document.querySelectorAll('details:not([open])')];
	for (const d of opened)
		d.open = true;
});
addEventListener('afterprint', () => {
	for (const d of opened)
		d.open = false;
});

/* ---- reading the data ---- */

/* n numbers whose bytes lie in planes: all lowest bytes first. */
const planes = (b, at, n, width) => {
	const out = new Uint32Array(n);
	if (width === 2)
		for (let i = 0, q = at + n; i < n; i++)
			out[i] = b[at + i] | b[q + i] << 8;
	else
		for (let i = 0, q = at + n, r = q + n, s = r + n; i < n; i++)
			out[i] = b[at + i] | b[q + i] << 8 | b[r + i] << 16 |
				b[s + i] << 24;
	return out;
};

const damaged = () => new Error('the timeline is damaged');

/* Where each slice stands in the order of names. */
const rankByName = (name, names) => {
	const from = new Uint32Array(names + 1);
	for (const k of name) {
		if (k >= names)
			throw damaged();
		from[k + 1]++;
	}
	for (let k = 1; k < names; k++)
		from[k] += from[k - 1];
	return name.map((k) => from[k]++);
};

/* Gaps and tails become starts and durations. */
const walk = (tracks, depth, start, dur) => {
	const open = [];
	let i = 0, now = 0;
	const end = (d) => {
		while (open.length > d) {
			const k = open.pop();
			now += dur[k];
			dur[k] = now - start[k];
		}
	};
	for (const track of tracks) {
		track.from = i;
		now = 0;
		for (const last = i + track.n; i < last; i++) {
			end(depth[i]);
			if (open.length !== depth[i])
				throw damaged();
			start[i] = now += start[i];
			open.push(i);
		}
		end(0);
	}
	if (i !== depth.length)
		throw damaged();
};

/* Slices of one group; src/page/page.h describes the bytes. */
const parse = (b, names) => {
	const v = new DataView(b.buffer, b.byteOffset, b.byteLength);
	const u32 = (at) => v.getUint32(at, true);
	if (b.length < 24 || u32(0) !== 0x32544650)
		throw damaged();
	const n = u32(4), t = u32(8), w = b[12], flags = b[13];
	const eg = u32(16), et = u32(20);
	const each = 4 + 4 + w + 1 + (flags & 1) + (flags & 2 ? 4 : 0);
	if ((w !== 2 && w !== 4) ||
	    b.length !== 24 + 8 * t + n * each + 8 * (eg + et))
		throw damaged();
	const tracks = [];
	for (let i = 0; i < t; i++)
		tracks.push({ n: u32(24 + 8 * i), depths: u32(28 + 8 * i) });
	let at = 24 + 8 * t;
	const take = (width) => {
		const out = planes(b, at, n, width);
		at += width * n;
		return out;
	};
	const bytes = () => b.subarray(at, at += n);
	const name = take(w), depth = bytes(), rank = rankByName(name, names);
	const times = () => {
		const low = take(4);
		return Float64Array.from(rank, (k) => low[k] | 0);
	};
	const start = times(), dur = times();
	const cat = flags & 1 ? bytes() : new Uint8Array(n);
	const link = flags & 2 ? take(4) : null;
	for (let i = 1; link && i < n; i++)
		link[i] += link[i - 1];
	for (let i = 0; i < eg + et; i++, at += 8) {
		const slice = u32(at);
		if (slice >= n)
			throw damaged();
		(i < eg ? start : dur)[slice] +=
			v.getInt32(at + 4, true) * 4294967296;
	}
	walk(tracks, depth, start, dur);
	return { n, tracks, start, dur, name, depth, cat, link };
};

/* For each track and depth the slices in order: they never overlap. */
const addRows = (g) => {
	for (const track of g.tracks) {
		const size = new Uint32Array(track.depths);
		for (let i = track.from; i < track.from + track.n; i++) {
			if (g.depth[i] >= track.depths)
				throw damaged();
			size[g.depth[i]]++;
		}
		track.rows = Array.from(size, (s) => new Uint32Array(s));
		size.fill(0);
		for (let i = track.from; i < track.from + track.n; i++)
			track.rows[g.depth[i]][size[g.depth[i]]++] = i;
	}
};

/* "gpu" of "gpu", or of "r3.gpu" where traces are stacked. */
const kindOf = (group) => group.key.split('.').pop();

const load = async (group, side, names) => {
	const b = new Uint8Array(await inflate(group.id).arrayBuffer());
	const g = parse(b, names);
	if (g.n !== group.n || g.tracks.length !== group.tracks.length)
		throw damaged();
	addRows(g);
	for (let i = 0; side.shift_ns && i < g.n; i++)
		g.start[i] += side.shift_ns;
	g.tracks.forEach((t, i) => Object.assign(t, group.tracks[i], { g }));
	return Object.assign(g, { key: group.key, kind: kindOf(group), side,
		until: group.until === undefined ? undefined
			: group.until + side.shift_ns });
};

/* ---- the timeline ---- */

const SHOWN = { ops: 12, python: 16 };
const FEW = { ops: 6, python: 10 }; /* of each of two traces */

const timeline = (T) => {
	const app = $('app');
	const groups = new Map();
	const isStacked = T.sides.length > 1;
	const span = Math.max(T.span_ns, LEAST);
	const short = new Map(), widths = new Map();
	let v0 = 0, v1 = span, tracks = [], strips = [], total = 0, width = 0, height = 0;
	let gutter = 150, isDirty = false, selected = null, hover = null;
	let query = '', match = null, range = null, css = {};

	const canvas = make('canvas', { tabIndex: 0, role: 'application',
		'aria-label': 'Timeline', 'aria-describedby': 'keys' });
	const view = make('div', { id: 'view' }), spacer = make('div');
	const said = make('div', { id: 'say', 'aria-live': 'polite' });
	const help = make('p', { id: 'keys', className: 'note' },
		'Drag pans, Ctrl or Cmd with the wheel zooms, shift and drag ' +
		'sums up a range, a click on a name at the left folds. Keys: ' +
		'W S zoom, A D pan, 0 all, F the selection, / highlights, ' +
		'n N next and previous, Esc clears.');
	const ctx = canvas.getContext('2d', { alpha: false });

	const dirty = () => {
		if (isDirty)
			return;
		isDirty = true;
		requestAnimationFrame(() => {
			isDirty = false;
			draw();
		});
	};

	const clamp = () => {
		let w = Math.min(Math.max(v1 - v0, LEAST), span);
		v0 = Math.min(Math.max(v0, 0), span - w);
		v1 = v0 + w;
	};
	const setView = (a, b) => {
		v0 = a;
		v1 = b;
		clamp();
		dirty();
	};
	const plot = () => Math.max(width - gutter, 1);
	const xOf = (ns) => gutter + (ns - v0) * plot() / (v1 - v0);
	const atX = (x) => v0 + (x - gutter) * (v1 - v0) / plot();
	const zoom = (f, c = (v0 + v1) / 2) =>
		setView(c - (c - v0) * f, c + (v1 - c) * f);
	const pan = (part) => {
		const d = (v1 - v0) * part;
		setView(v0 + d, v1 + d);
	};

	/* -- which tracks, and where -- */

	const rowsShown = (t) => t.isOpen
		? Math.min(t.rows.length - t.skip,
			!t.isAll && (isStacked ? FEW : SHOWN)[t.g.kind] || 255)
		: 0;

	const layout = () => {
		let y = RULER;
		strips = [];
		for (const t of tracks) {
			if (isStacked && strips.at(-1)?.side !== t.g.side) {
				strips.push({ side: t.g.side, y });
				y += STRIP;
			}
			t.y = y;
			t.skip = t.isAll ? 0 : t.path.length;
			t.shown = rowsShown(t);
			y += HEAD + t.shown * ROW + GAP;
		}
		total = y;
		spacer.style.height = Math.max(total - height, 0) + 'px';
	};

	/* Depths at the top that one slice fills nearly whole say nothing:
	 * these slices. */
	const prefix = ({ g, rows }) => {
		const path = [];
		for (const row of g.kind === 'python' ? rows.slice(0, -1) : []) {
			const all = g.dur[path.length ? path[0] : row[0]];
			const i = row.find((k) => g.dur[k] >= 0.98 * all);
			if (i === undefined || (!path.length && row.length > 1))
				break;
			path.push(i);
		}
		return path;
	};

	const arrangeSide = (side) => {
		const all = [...groups.values()].filter((g) => g.side === side);
		const get = (kind) => all.filter((g) => g.kind === kind)
			.flatMap((g) => g.tracks);
		const ops = get('ops').sort((a, b) =>
			(b.launches || 0) - (a.launches || 0) || a.id - b.id);
		const py = get('python');
		const list = get('gpu').sort((a, b) =>
			a.label.localeCompare(b.label, 'en',
				{ numeric: true }));
		const shut = new Set(ops.slice(isStacked ? 2 : ops.length)
			.map((t) => t.id));
		list.unshift(...get('path'));
		for (const t of ops)
			list.push(t, ...py.filter((p) => p.id === t.id));
		list.push(...py.filter((p) => !list.includes(p)));
		list.forEach((t, i) => {
			if (t.path)
				return;
			t.path = prefix(t);
			t.isOpen = i < 24 && !t.wait && !shut.has(t.id);
		});
		return list;
	};

	const arrange = () => {
		tracks = T.sides.flatMap(arrangeSide);
		layout();
	};

	/* -- drawing -- */

	const colours = () => {
		const s = getComputedStyle(root);
		for (const k of ['bg', 'soft', 'text', 'muted', 'line', 'bad',
			'link'])
			css[k] = s.getPropertyValue('--' + k).trim();
	};

	const resize = () => {
		const ratio = devicePixelRatio || 1;
		width = view.clientWidth;
		gutter = width < 600 ? 100 : 150;
		height = Math.min(Math.max(total, 120), 620);
		canvas.style.height = height + 'px';
		canvas.width = Math.round(width * ratio);
		canvas.height = Math.round(height * ratio);
		ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
		layout();
	};

	const label = (name) => {
		let s = short.get(name);
		if (s === undefined) {
			s = shorten(T.names[name] || '');
			short.set(name, s);
		}
		return s;
	};

	/* As much of a name as fits. */
	const fit = (name, room) => {
		const s = label(name);
		let w = widths.get(name);
		if (w === undefined)
			widths.set(name, w = ctx.measureText(s).width);
		if (w <= room)
			return s;
		const n = Math.floor((room - 8) * s.length / w);
		return n > 1 ? s.slice(0, n) + '…' : '';
	};

	/* The first of idx, from a on, that is not before something. */
	const bisect = (idx, a, isBefore) => {
		let b = idx.length;
		while (a < b) {
			const m = (a + b) >> 1;
			if (isBefore(idx[m]))
				a = m + 1;
			else
				b = m;
		}
		return a;
	};
	const firstEnd = (g, idx, ns) =>
		bisect(idx, 0, (i) => g.start[i] + g.dur[i] < ns);

	/* Slices of one depth; m grows in every turn, so it ends.  Of a pixel
	 * the longest has it. */
	const paintRow = (g, idx, y) => {
		const k = plot() / (v1 - v0);
		let m = firstEnd(g, idx, v0), colour = -1;
		const use = (i) => {
			if (g.cat[i] !== colour)
				ctx.fillStyle = COLOURS[colour = g.cat[i]];
		};
		while (m < idx.length) {
			const i = idx[m], s = g.start[i], w = g.dur[i] * k;
			if (s >= v1)
				return;
			const x = gutter + (s - v0) * k;
			if (w >= 0.75) {
				use(i);
				const a = Math.max(x, gutter);
				const b = Math.min(x + w, width);
				const d = b - a;
				ctx.fillRect(a, y, d > 3 ? d - 1 : Math.max(d, 1),
					ROW - 1);
				if (d >= 28) {
					ctx.fillStyle = '#0b0e12';
					ctx.fillText(fit(g.name[i], d - 6),
						a + 3, y + 7);
					colour = -1;
				}
				m++;
				continue;
			}
			const px = Math.max(Math.floor(x), gutter);
			const next = v0 + (px + 1 - gutter) / k;
			let j = bisect(idx, m + 1, (i) => g.start[i] < next);
			const p = idx[j - 1];
			if (j - 1 > m && g.dur[p] * k >= 0.75 &&
			    g.start[p] + g.dur[p] > next)
				j--;
			use(idx.subarray(m, Math.min(j, m + 99)).reduce((a, b) =>
				g.dur[b] > g.dur[a] ? b : a));
			ctx.fillRect(px, y, 1, ROW - 1);
			m = j;
		}
	};

	const hits = (t, depth) => {
		if (t.hits?.query !== match)
			t.hits = { query: match, rows: [] };
		return t.hits.rows[depth] ||= t.rows[depth].filter((i) =>
			match[t.g.name[i]]);
	};

	const outline = (slice, colour, top) => {
		const { g, i } = slice;
		const t = trackOf(slice), depth = g.depth[i] - t.skip;
		if (depth < 0 || depth >= t.shown)
			return;
		const a = Math.max(xOf(g.start[i]), gutter);
		const b = Math.min(xOf(g.start[i] + g.dur[i]), width);
		const y = t.y + HEAD + depth * ROW - top;
		if (b < gutter || a > width || y < RULER - ROW)
			return;
		ctx.strokeStyle = colour;
		ctx.lineWidth = 2;
		ctx.strokeRect(a, y, Math.max(b - a - 1, 2), ROW - 1);
	};

	const paintTrack = (t, top) => {
		const y = t.y - top;
		if (y > height || y + HEAD + t.shown * ROW < RULER)
			return;
		for (let d = 0; d < t.shown; d++) {
			const ry = y + HEAD + d * ROW;
			if (ry > height || ry + ROW < RULER)
				continue;
			ctx.globalAlpha = match ? 0.15 : 1;
			paintRow(t.g, t.rows[d + t.skip], ry);
			ctx.globalAlpha = 1;
			if (match)
				paintRow(t.g, hits(t, d + t.skip), ry);
		}
		if (t.g.until !== undefined && t.g.until < v1) {
			const x = Math.max(xOf(t.g.until), gutter);
			ctx.fillStyle = css.soft;
			ctx.fillRect(x, y + HEAD, width - x, t.shown * ROW);
			ctx.fillStyle = css.muted;
			ctx.fillText('left out for its size', x + 6,
				y + HEAD + 7);
		}
	};

	const paintHead = (t, top) => {
		const y = t.y - top;
		if (y > height || y + HEAD < 0)
			return;
		const hidden = t.rows.length - t.skip - t.shown;
		ctx.fillStyle = css.bg;
		ctx.fillRect(0, y, width, HEAD);
		ctx.fillRect(0, y, gutter - 1, HEAD + t.shown * ROW + GAP);
		ctx.fillStyle = css.line;
		ctx.fillRect(0, y, width, 1);
		ctx.fillStyle = css.text;
		const name = t.label + (t.g.kind === 'python' ? ', Python' : '');
		ctx.fillText((t.isOpen ? '▾ ' : '▸ ') + name, 6, y + 10);
		ctx.fillStyle = css.muted;
		ctx.fillText(count(t.n) + (t.isOpen && hidden > 0
			? ', ' + hidden + ' deeper levels folded' : '') +
			(t.wait ? ', waits' : '') +
			t.path.slice(0, t.skip).map((i, d) =>
				(d ? ' › ' : ', in ') + label(t.g.name[i]))
				.join(''),
			Math.max(gutter + 6,
				24 + ctx.measureText(name).width), y + 10);
	};

	const paintSteps = ({ steps, shift_ns }, y, h, middle) => {
		for (const [from, to, name] of steps) {
			const a = from + shift_ns, b = to + shift_ns;
			if (b < v0 || a > v1)
				continue;
			const x = Math.max(xOf(a), gutter);
			const e = Math.min(xOf(b), width);
			ctx.fillStyle = css.soft;
			ctx.fillRect(x, y, Math.max(e - x - 1, 1), h - 1);
			if (e - x > 50) {
				ctx.fillStyle = css.muted;
				ctx.textAlign = 'right';
				ctx.fillText('step ' + name, e - 4, y + middle);
				ctx.textAlign = 'left';
			}
		}
	};

	const paintMarks = ({ marks, shift_ns }, bottom) => {
		ctx.fillStyle = css.bad;
		for (const m of marks) {
			const a = Math.max(m.t0 + shift_ns, v0);
			const b = Math.min(m.t1 + shift_ns, v1);
			if (a <= b)
				ctx.fillRect(xOf(a), bottom - 2,
					Math.max(xOf(b) - xOf(a), 1), 2);
		}
	};

	/* The head of one of several traces. */
	const paintStrip = ({ side, y }, top) => {
		const at = y - top;
		if (at > height || at + STRIP < RULER)
			return;
		ctx.fillStyle = css.bg;
		ctx.fillRect(0, at, width, STRIP);
		paintSteps(side, at, STRIP - 2, STRIP / 2);
		paintMarks(side, at + STRIP - 1);
		ctx.fillStyle = css.bg;
		ctx.fillRect(0, at, gutter - 1, STRIP);
		ctx.fillStyle = css.text;
		ctx.font = 'bold ' + FONT;
		ctx.fillText(side.label, 6, at + STRIP / 2);
		ctx.font = FONT;
	};

	const paintRuler = () => {
		ctx.fillStyle = css.bg;
		ctx.fillRect(0, 0, width, RULER);
		if (!isStacked)
			paintSteps(T.sides[0], 0, RULER, 7);
		ctx.fillStyle = css.muted;
		paintTicks(ctx, v0, v1, xOf, width);
		if (!isStacked)
			paintMarks(T.sides[0], RULER);
		ctx.fillStyle = css.bg;
		ctx.fillRect(0, 0, gutter - 1, RULER);
		ctx.fillStyle = css.muted;
		ctx.fillText(time(v1 - v0), 6, RULER - 7);
	};

	const draw = () => {
		const top = view.scrollTop;
		ctx.font = FONT;
		ctx.textBaseline = 'middle';
		ctx.fillStyle = css.bg;
		ctx.fillRect(0, 0, width, height);
		for (const t of tracks)
			paintTrack(t, top);
		if (range) {
			ctx.fillStyle = css.link;
			ctx.globalAlpha = 0.2;
			ctx.fillRect(xOf(range[0]), RULER,
				xOf(range[1]) - xOf(range[0]), height);
			ctx.globalAlpha = 1;
		}
		if (hover)
			outline(hover, css.muted, top);
		if (selected)
			outline(selected, css.text, top);
		for (const t of tracks)
			paintHead(t, top);
		for (const s of strips)
			paintStrip(s, top);
		paintRuler();
	};

	/* -- what is where -- */

	const trackAt = (y) => {
		const at = y + view.scrollTop;
		return y < RULER ? undefined
			: tracks.find((t) => at >= t.y && at < t.y + HEAD +
				t.shown * ROW + GAP);
	};

	const sliceAt = (x, y) => {
		const t = trackAt(y);
		if (!t || x < gutter)
			return null;
		const d = Math.floor((y + view.scrollTop - t.y - HEAD) / ROW);
		if (d < 0 || d >= t.shown)
			return null;
		const idx = t.rows[d + t.skip], px = (v1 - v0) / plot();
		const m = firstEnd(t.g, idx, atX(x) - px);
		if (m < idx.length && t.g.start[idx[m]] <= atX(x) + px)
			return { g: t.g, i: idx[m], t };
		return null;
	};

	/* The call that launched this, or the first work that it launched. */
	const partner = ({ g, i }) => {
		const of = (kind) => [...groups.values()].find((o) =>
			o.side === g.side && o.kind === kind);
		const gpu = of('gpu'), ops = of('ops');
		if (!gpu || !ops || !gpu.link)
			return null;
		const base = gpu.n;
		if (g === gpu && gpu.link[i] !== 0xffffffff &&
		    gpu.link[i] - base < ops.n)
			return { g: ops, i: gpu.link[i] - base };
		if (g === ops) {
			const at = gpu.link.indexOf(base + i);
			if (at >= 0)
				return { g: gpu, i: at };
		}
		return null;
	};

	const trackOf = ({ g, i }) => g.tracks.findLast((t) => i >= t.from);

	const words = ({ g, i }) => (T.names[g.name[i]] || '') + '\n' +
		T.cats[g.cat[i]] + ', ' + time(g.dur[i]) + ' from ' +
		time(g.start[i] - g.side.shift_ns) + ', ' +
		trackOf({ g, i }).label + (isStacked ? ' of ' + g.side.label
		: '');

	const reveal = (slice) => {
		const t = trackOf(slice), { g, i } = slice;
		const mid = g.start[i] + g.dur[i] / 2;
		let w = v1 - v0;
		if (g.dur[i] > w)
			w = g.dur[i] * 1.2;
		if (g.dur[i] < w / 400)
			w = Math.max(g.dur[i] * 40, LEAST);
		const d = g.depth[i] - t.skip;
		if (!t.isOpen || d < 0 || d >= t.shown)
			t.isOpen = t.isAll = true;
		layout();
		const y = t.y + HEAD + (g.depth[i] - t.skip) * ROW;
		if (y < view.scrollTop + RULER + HEAD ||
		    y > view.scrollTop + height - ROW)
			view.scrollTop = y - height / 2;
		setView(mid - w / 2, mid + w / 2);
	};

	const select = (slice) => {
		selected = slice;
		range = null;
		said.replaceChildren();
		if (slice) {
			const other = partner(slice);
			const [name, what] = words(slice).split(/\n(?=[^\n]*$)/);
			said.append(make('code', {}, name),
				make('div', {}, what));
			if (other) {
				const b = make('button', { type: 'button' },
					slice.g.kind === 'gpu' ? 'Go to its launch'
						: 'Go to its GPU work');
				b.addEventListener('click', () => {
					select(other);
					reveal(other);
				});
				said.append(make('div', { className: 'tools' },
					b));
			}
			const { origin_ns: at, shift_ns } = slice.g.side;
			said.append(make('div', { className: 'note' },
				'In the trace: ' + String(BigInt(at) +
				BigInt(Math.round(slice.g.start[slice.i] -
				shift_ns))) +
				' ns, ' + Math.round(slice.g.dur[slice.i]) +
				' ns long'));
		}
		dirty();
	};

	/* The names that take most of a range, by group of tracks. */
	const sumUp = () => {
		const [a, b] = range;
		const sums = make('div', { className: 'sums' });
		said.replaceChildren(make('div', {}, time(b - a) + ' from ' +
			time(a)), sums);
		for (const [key, g] of groups) {
			const by = new Map();
			for (const t of g.tracks) {
				const ends = new Map(); /* calls of itself */
				for (let i = t.from; i < t.from + t.n; i++) {
					const k = g.name[i], end = Math.min(
						g.start[i] + g.dur[i], b);
					const ns = end - Math.max(g.start[i], a,
						ends.get(k) || 0);
					if (ns <= 0)
						continue;
					ends.set(k, end);
					by.set(k, (by.get(k) || 0) + ns);
				}
			}
			const best = [...by].sort((x, y) => y[1] - x[1])
				.slice(0, 10);
			if (best.length)
				sums.append(make('div', {}, make('div',
					{ className: 'note' }, isStacked
					? g.side.label + ', ' + g.kind : key),
					make('ol', {},
					...best.map(([name, ns]) => make('li', {},
					time(ns) + ' ' +
					label(name).slice(0, 60))))));
		}
	};

	/* -- highlighting -- */

	const highlight = (text) => {
		query = text.trim().toLowerCase();
		match = null;
		let n = 0;
		if (query) {
			match = Uint8Array.from(T.names, (s) =>
				s.toLowerCase().includes(query) ? 1 : 0);
			for (const { kind, name } of groups.values())
				for (const k of kind === 'path' ? [] : name)
					n += match[k];
		}
		found.textContent = query && count(n) + ' found' +
			(T.groups.every((g) => groups.has(g.key)) ? ''
				: ' without Python');
		dirty();
	};

	const step = (way) => {
		if (!match)
			return;
		const from = selected ? selected.g.start[selected.i]
			: way > 0 ? v0 : v1;
		let best = null, least = Infinity;
		for (const g of groups.values())
			for (let i = 0; i < g.n; i++) {
				const d = (g.start[i] - from) * way;
				if (match[g.name[i]] && d > 0 && d < least) {
					best = { g, i };
					least = d;
				}
			}
		if (best) {
			select(best);
			reveal(best);
		}
	};

	/* -- controls -- */

	const tools = make('div', { className: 'tools' });
	const button = (text, run) => {
		const b = make('button', { type: 'button' }, text);
		b.addEventListener('click', run);
		tools.append(b);
		return b;
	};
	button('Zoom in', () => zoom(0.7));
	button('Zoom out', () => zoom(1.43));
	button('All', () => setView(0, span));
	const search = make('input', { type: 'search',
		placeholder: 'Highlight', 'aria-label': 'Highlight names' });
	search.addEventListener('input', () => highlight(search.value));
	search.addEventListener('keydown', (e) => {
		if (e.key === 'Enter')
			step(e.shiftKey ? -1 : 1);
	});
	const found = make('span', { role: 'status' });

	const addGroup = async (group) => {
		const g = await load(group, T.sides[group.side],
			T.names.length);
		groups.set(g.key, g);
		arrange();
		resize();
		if (query)
			highlight(query);
		dirty();
	};
	const isPython = (g) => kindOf(g) === 'python';
	const python = T.groups.filter(isPython);
	if (python.length) {
		const n = python.reduce((sum, g) => sum + g.n, 0);
		const b = button('Show Python (' + count(n) + ')', async () => {
			b.disabled = true;
			try {
				for (const g of python)
					await addGroup(g);
				b.remove();
			} catch (e) {
				fail(e);
			}
		});
	}
	tools.append(search, found);

	const keys = {
		__proto__: null,
		w: () => zoom(0.7), '+': () => zoom(0.7), '=': () => zoom(0.7),
		s: () => zoom(1.43), '-': () => zoom(1.43),
		a: () => pan(-0.2), ArrowLeft: () => pan(-0.2),
		d: () => pan(0.2), ArrowRight: () => pan(0.2),
		ArrowUp: () => { view.scrollTop -= 60; },
		ArrowDown: () => { view.scrollTop += 60; },
		0: () => setView(0, span),
		f: () => {
			if (range)
				setView(...range);
			else if (selected)
				setView(selected.g.start[selected.i],
					selected.g.start[selected.i] +
					selected.g.dur[selected.i]);
		},
		'/': () => search.focus(),
		n: () => step(1), N: () => step(-1),
		Escape: () => {
			search.value = '';
			highlight('');
			select(null);
		},
	};
	canvas.addEventListener('keydown', (e) => {
		if (e.ctrlKey || e.metaKey || e.altKey)
			return;
		const run = keys[e.key] || keys[e.key.toLowerCase()];
		if (run) {
			e.preventDefault();
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
		drag = { x, y, v0, v1, isRange: e.shiftKey, moved: false };
		canvas.setPointerCapture(e.pointerId);
	});
	canvas.addEventListener('pointermove', (e) => {
		const [x, y] = place(e);
		if (!drag) {
			const s = sliceAt(x, y);
			if (s?.i !== hover?.i || s?.g !== hover?.g) {
				hover = s;
				canvas.title = s ? words(s) : '';
				dirty();
			}
			return;
		}
		if (Math.abs(x - drag.x) > 3)
			drag.moved = true;
		if (!drag.moved)
			return;
		if (drag.isRange) {
			const a = atX(Math.max(drag.x, gutter));
			const b = atX(Math.max(x, gutter));
			range = [Math.max(Math.min(a, b), 0),
				Math.min(Math.max(a, b), span)];
			dirty();
		} else {
			const d = (drag.x - x) * (drag.v1 - drag.v0) / plot();
			setView(drag.v0 + d, drag.v1 + d);
		}
	});
	const release = (e) => {
		if (!drag)
			return;
		const [x, y] = place(e), was = drag;
		drag = null;
		if (was.moved) {
			if (was.isRange && range)
				sumUp();
			return;
		}
		const t = trackAt(y);
		if (t && y + view.scrollTop < t.y + HEAD) {
			const more = t.rows.length > rowsShown(t);
			if (!t.isOpen)
				t.isOpen = true;
			else if (more)
				t.isAll = true;
			else
				t.isOpen = t.isAll = false;
			layout();
			resize();
			dirty();
		} else {
			select(sliceAt(x, y));
		}
	};
	canvas.addEventListener('pointerup', release);
	canvas.addEventListener('pointercancel', () => { drag = null; });
	canvas.addEventListener('pointerleave', () => {
		hover = null;
		dirty();
	});
	canvas.addEventListener('wheel', (e) => {
		if (!e.ctrlKey && !e.metaKey) {
			if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
				e.preventDefault();
				pan(e.deltaX / plot());
			}
			return;
		}
		e.preventDefault();
		zoom(e.deltaY < 0 ? 0.8 : 1.25,
			atX(Math.max(place(e)[0], gutter)));
	}, { passive: false });
	view.addEventListener('scroll', dirty);

	document.addEventListener('click', (e) => {
		const a = e.target.closest('a[data-t0]');
		if (!a)
			return;
		const from = Number(a.dataset.t0), to = Number(a.dataset.t1);
		const room = Math.max((to - from) * 0.3, 1000);
		range = [from, to];
		setView(from - room, to + room);
		sumUp();
	});

	const fail = (e) => {
		root.dataset.ready = 'err';
		app.replaceChildren(make('p', { className: 'note' },
			typeof DecompressionStream === 'undefined'
				? 'The timeline needs a newer browser.'
				: 'The timeline cannot be shown: ' + e.message));
	};

	const legend = make('ul', { className: 'legend' });
	const explain = (name, colour) => {
		const k = make('span', { className: 'swatch' });
		k.style.background = colour;
		legend.append(make('li', {}, k, name));
	};
	T.cats.forEach((name, i) => explain(name, COLOURS[i]));
	if (T.sides.some((s) => s.marks.length))
		explain('line above: a verdict', 'var(--bad)');
	view.append(canvas, spacer);
	app.append(tools, legend, view, said, help);
	colours();
	/* not while sizes are told */
	new ResizeObserver(() => requestAnimationFrame(() => {
		if (view.clientWidth !== width) {
			resize();
			draw();
		}
	})).observe(view);
	matchMedia('(prefers-color-scheme: dark)').addEventListener('change',
		() => {
			colours();
			dirty();
		});

	/* For tests: the window, and one redraw. */
	root.timeline = { setView: (a, b) => { v0 = a; v1 = b; clamp(); draw(); },
		view: () => [v0, v1], span, rows: () => tracks.map((t) =>
			({ label: t.label, side: t.g.side.label, key: t.g.key,
			y: t.y, n: t.n, shown: t.shown, from: t.n
				? t.g.start[t.from] : 0 })) };

	/* At first the steps, where much is around them. */
	const ends = T.sides.flatMap(({ steps, shift_ns: d }) => steps.length
		? [steps[0][0] + d, steps.at(-1)[1] + d] : []);
	const lo = Math.min(...ends), hi = Math.max(...ends);
	if (lo < hi && hi - lo < span / 2)
		setView(lo, hi);

	const first = T.groups.filter((g) => !isPython(g));
	(async () => {
		T.names = await inflate('pn').json();
		for (const group of first.length ? first : T.groups)
			await addGroup(group);
		resize();
		draw(); /* at once: a tab behind has no frames */
		root.dataset.ms = Math.round(performance.now());
		root.dataset.ready = '1';
	})().catch(fail);
};

if ($('tl') && $('app'))
	timeline(JSON.parse($('tl').textContent));
else
	root.dataset.ready = root.dataset.ms = '1';
})();
