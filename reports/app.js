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
	for (let k = 0; k < width; k++, at += n)
		for (let i = 0; i < n; i++)
			out[i] |= b[at + i] << 8 * k;
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

if (!$('tl') || !$('app')) {
	root.dataset.ready = root.dataset.ms = '1';
	return;
}
const T = JSON.parse($('tl').textContent), app = $('app'), groups = new Map();
const isStacked = T.sides.length > 1;
let match = null, python = null;

const rows = (t) => t.isOpen
	? Math.min(t.rows.length - t.skip,
		!t.isAll && (isStacked ? FEW : SHOWN)[t.g.kind] || 255)
	: 0;

/* Depths at the top that one slice fills nearly whole say nothing: these. */
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
	const get = (kind) => all.flatMap((g) => g.kind === kind ? g.tracks : []);
	const ops = get('ops').sort((a, b) =>
		(b.launches || 0) - (a.launches || 0) || a.id - b.id);
	const py = get('python');
	const list = get('gpu').sort((a, b) =>
		a.label.localeCompare(b.label, 'en', { numeric: true }));
	const shut = new Set(ops.slice(isStacked ? 2 : ops.length)
		.map((t) => t.id));
	list.unshift(...get('path'));
	for (const t of ops)
		list.push(t, ...py.filter((p) => p.id === t.id));
	list.push(...py.filter((p) => !list.includes(p)));
	list.forEach((t, i) => {
		t.strip = isStacked && !i;
		if (t.path)
			return;
		t.path = prefix(t);
		t.skip = t.path.length;
		t.isOpen = i < 24 && !t.wait && !shut.has(t.id);
	});
	return list;
};

const sliceOf = (g, i) => ({ g, i, start_ns: g.start[i],
	dur_ns: g.dur[i], t: g.tracks.findLast((t) => i >= t.from) });

const nameOf = (g, i) => T.names[g.name[i]] || '';

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
	const { v0, v1 } = line, left = xOf(v0), k = plot() / (v1 - v0);
	let m = firstEnd(g, idx, v0);
	while (m < idx.length) {
		const i = idx[m], s = g.start[i], w = g.dur[i] * k;
		if (s >= v1)
			return;
		const x = left + (s - v0) * k;
		if (w >= 0.75) {
			paintBox(x, w, y, COLOURS[g.cat[i]], nameOf(g, i));
			m++;
			continue;
		}
		const px = Math.max(Math.floor(x), left);
		const next = v0 + (px + 1 - left) / k;
		let j = bisect(idx, m + 1, (i) => g.start[i] < next);
		const p = idx[j - 1];
		if (j - 1 > m && g.dur[p] * k >= 0.75 &&
		    g.start[p] + g.dur[p] > next)
			j--;
		const best = idx.subarray(m, Math.min(j, m + 99))
			.reduce((a, b) => g.dur[b] > g.dur[a] ? b : a);
		paintBox(px, 1, y, COLOURS[g.cat[best]]);
		m = j;
	}
};

const hits = (t, depth) => {
	if (t.hits?.query !== match)
		t.hits = { query: match, rows: [] };
	return t.hits.rows[depth] ||=
		t.rows[depth].filter((i) => match[t.g.name[i]]);
};

const paint = (t, d, y) => {
	ctx.globalAlpha = match ? 0.15 : 1;
	paintRow(t.g, t.rows[d + t.skip], y);
	ctx.globalAlpha = 1;
	if (match)
		paintRow(t.g, hits(t, d + t.skip), y);
	if (t.g.until < line.v1) {
		const x = xOf(Math.max(t.g.until, line.v0));
		ctx.fillStyle = css.soft;
		ctx.fillRect(x, y, xOf(line.v1) - x, ROW);
		ctx.fillStyle = css.muted;
		if (!d)
			ctx.fillText('left out for its size', x + 6, y + 7);
	}
};

const head = (t) => {
	const hidden = t.rows.length - t.skip - t.shown;
	return [t.isOpen, t.label + (t.g.kind === 'python' ? ', Python' : ''),
		count(t.n) + (t.isOpen && hidden > 0 ? ', ' + hidden +
			' deeper levels folded' : '') +
		(t.wait ? ', waits' : '') +
		t.path.slice(0, t.skip).map((i, d) => (d ? ' › ' : ', in ') +
			shorten(nameOf(t.g, i))).join('')];
};

const paintMarks = ({ marks, shift_ns: d }, bottom) => {
	const { v0, v1 } = line;
	ctx.fillStyle = css.bad;
	for (const m of marks) {
		const a = Math.max(m.t0 + d, v0), b = Math.min(m.t1 + d, v1);
		if (a <= b)
			ctx.fillRect(xOf(a), bottom - 2,
				Math.max(xOf(b) - xOf(a), 1), 2);
	}
};

/* The head of one of several traces. */
const strip = ({ g: { side } }, y) => {
	ctx.fillStyle = css.bg;
	ctx.fillRect(0, y, xOf(line.v1), STRIP);
	line.paintSteps(side, y, STRIP - 2, STRIP / 2);
	paintMarks(side, y + STRIP - 1);
	ctx.fillStyle = css.bg;
	ctx.fillRect(0, y, xOf(line.v0) - 1, STRIP);
	ctx.fillStyle = css.text;
	ctx.font = 'bold ' + FONT;
	ctx.fillText(side.label, 6, y + STRIP / 2);
	ctx.font = FONT;
};

const find = (t, d, x) => {
	const idx = t.rows[d + t.skip], at = atX(x);
	const px = (line.v1 - line.v0) / plot();
	const m = firstEnd(t.g, idx, at - px);
	return m < idx.length && t.g.start[idx[m]] <= at + px &&
		sliceOf(t.g, idx[m]);
};

/* The call that launched this, or the first work that it launched. */
const partner = ({ g, i }) => {
	const of = (kind) => [...groups.values()].find((o) =>
		o.side === g.side && o.kind === kind);
	const gpu = of('gpu'), ops = of('ops');
	if (!gpu?.link || !ops)
		return null;
	if (g === gpu)
		return gpu.link[i] - gpu.n < ops.n &&
			sliceOf(ops, gpu.link[i] - gpu.n);
	const at = g === ops ? gpu.link.indexOf(gpu.n + i) : -1;
	return at >= 0 && sliceOf(gpu, at);
};

const words = ({ g, i, t }) => [nameOf(g, i), T.cats[g.cat[i]] + ', ' +
	time(g.dur[i]) + ' from ' + time(g.start[i] - g.side.shift_ns) +
	', ' + t.label + (isStacked ? ' of ' + g.side.label : '')];

const tell = (s) => {
	line.range = null;
	if (!s)
		return;
	const other = partner(s), { origin_ns: at, shift_ns } = s.g.side;
	if (other)
		line.lead([other], s.g.kind === 'gpu');
	said.append(make('div', { className: 'note' }, 'In the trace: ' +
		(BigInt(at) + BigInt(Math.round(s.start_ns - shift_ns))) +
		' ns, ' + Math.round(s.dur_ns) + ' ns long'));
};

/* The names that take most of a range, by group of tracks. */
const ask = (a, b) => {
	const sums = make('div', { className: 'sums' });
	line.select(null);
	line.range = [a, b];
	said.append(make('div', {}, time(b - a) + ' from ' + time(a)), sums);
	for (const g of groups.values()) {
		const by = new Map();
		for (const t of g.tracks) {
			const ends = new Map(); /* calls of itself */
			for (let i = t.from; i < t.from + t.n; i++) {
				const k = g.name[i];
				const end = Math.min(g.start[i] + g.dur[i], b);
				const ns = end - Math.max(g.start[i], a, ends.get(k) || 0);
				if (ns <= 0)
					continue;
				ends.set(k, end);
				by.set(k, (by.get(k) || 0) + ns);
			}
		}
		const best = [...by].sort((x, y) => y[1] - x[1]).slice(0, 10);
		if (best.length)
			sums.append(make('div', {}, make('div', { className: 'note' },
				(isStacked ? g.side.label + ', ' : '') + g.kind),
			make('ol', {}, ...best.map(([name, ns]) => make('li', {},
				time(ns) + ' ' + shorten(T.names[name]).slice(0, 60))))));
	}
};

const search = () => {
	const { query } = line;
	let n = 0;
	match = query && Uint8Array.from(T.names, (s) =>
		s.toLowerCase().includes(query));
	for (const { kind, name } of match ? groups.values() : [])
		for (const k of kind === 'path' ? [] : name)
			n += match[k];
	line.told.textContent = query && count(n) + ' found' +
		(python ? ' without Python' : '');
};

const step = (way) => {
	const from = line.selected?.start_ns ?? (way > 0 ? line.v0 : line.v1);
	let best = null, least = Infinity;
	for (const g of match ? groups.values() : [])
		for (let i = 0; i < g.n; i++) {
			const d = (g.start[i] - from) * way;
			if (match[g.name[i]] && d > 0 && d < least) {
				best = sliceOf(g, i);
				least = d;
			}
		}
	if (best)
		line.goTo(best);
};

const line = newCanvas({ rows, head, paint, find, words, tell, ask, step,
	search, strip,
	fold(t) {
		const isMore = t.isOpen && t.rows.length > t.shown;
		t.isAll = isMore;
		t.isOpen = isMore || !t.isOpen;
		t.skip = isMore ? 0 : t.path.length;
	},
	place: ({ g, i, t }) => [t, g.depth[i] - t.skip],
	open({ g, i, t }) {
		const d = g.depth[i] - t.skip;
		if (d >= 0 && d < t.shown)
			return;
		t.isOpen = t.isAll = true;
		t.skip = 0;
	},
	steps: () => isStacked ? { steps: [] } : T.sides[0],
	over: () => isStacked || paintMarks(T.sides[0], RULER),
});
const { ctx, css, said, plot, xOf, atX, paintBox } = line;
line.span = Math.max(T.span_ns, LEAST);
line.isWhole = true;

const addGroup = async (group) => {
	const g = await load(group, T.sides[group.side], T.names.length);
	groups.set(g.key, g);
	line.tracks = T.sides.flatMap(arrangeSide);
	line.layout();
};
const fail = (e) => {
	root.dataset.ready = 'err';
	app.replaceChildren(make('p', { className: 'note' },
		typeof DecompressionStream === 'undefined'
			? 'The timeline needs a newer browser.'
			: 'The timeline cannot be shown: ' + e.message));
};
const first = [], later = [];
for (const g of T.groups)
	(kindOf(g) === 'python' ? later : first).push(g);
if (first.length && later.length) {
	const n = later.reduce((sum, g) => sum + g.n, 0);
	python = line.button('Show Python (' + count(n) + ')', async () => {
		python.disabled = true;
		try {
			for (const g of later)
				await addGroup(g);
			python.remove();
			python = null;
			search();
		} catch (e) {
			fail(e);
		}
	});
	line.search.before(python);
}

document.addEventListener('click', (e) => {
	const a = e.target.closest('a[href="#timeline"]');
	if (!a)
		return;
	/* its keys work; going there takes the focus away */
	setTimeout(() => line.canvas.focus({ preventScroll: true }));
	const { t0, t1 } = a.dataset, room = Math.max((t1 - t0) * 0.3, 1000);
	if (!t0)
		return;
	line.setView(t0 - room, +t1 + room);
	ask(+t0, +t1);
});

T.cats.forEach((name, i) => line.explain(name, COLOURS[i]));
if (T.sides.some((s) => s.marks.length))
	line.explain('line above: a verdict', 'var(--bad)');
app.append(...line.nodes);

root.timeline = line; /* for tests */

/* At first the steps, where much is around them. */
const ends = T.sides.flatMap(({ steps, shift_ns: d }) => steps.length
	? [steps[0][0] + d, steps.at(-1)[1] + d] : []);
const lo = Math.min(...ends), hi = Math.max(...ends);
line.setView(...lo < hi && hi - lo < line.span / 2 ? [lo, hi]
	: [0, line.span]);

(async () => {
	T.names = await inflate('pn').json();
	for (const group of first.length ? first : later)
		await addGroup(group);
	line.draw(); /* at once: a tab behind has no frames */
	root.dataset.ms = Math.round(performance.now());
	root.dataset.ready = '1';
})().catch(fail);
})();
