/*
 * The view of all events: a canvas of what "profan timeline" says is drawn at
 * a resolution.  What was asked last is held, and drawn from until the next
 * answer comes; the whole capture is held, too, for what lies beside.
 */

/* Of a range, the slowest last. */
const QUESTIONS = ['gaps', 'kernels', 'overlap', 'syncs', 'table'];
const ORDER = ['path', 'idle', 'counters', 'all'];
const FRESH = 0.6; /* of the columns that there could be: then ask again */
const FINE = 2; /* columns of the whole, to those that are seen */
const FIRST_PIXELS = '1000'; /* which profan view asks for, too */
const WHOLE_COLUMNS = 20000; /* of what is asked of the whole alone */
const MOST_COLUMNS = 50000; /* at once */
const MANY = 1e6; /* events: then the path waits until it is asked for */
const GRAPH_ROWS = 3; /* the height of a counter */
const GRAPHS = 8; /* that are open at first; more are folded */
const TRACK_KEYS = ' P: pin the track under the pointer; H: hide it; U: show ' +
	'all.';
const REST_MS = 300; /* without a move: then more is asked than events */
const HELD = 2; /* answers of parts of a capture that are kept */
const PACE_MS = 100; /* a drag is as many moves */
const SMALL = 3; /* pixels: from there on a box has an edge */

/* A text of SQL. */
const sqlText = (s) => "'" + s.replaceAll("'", "''") + "'";
const sqlLike = (s) => sqlText('%' + s.replace(/[\\%_]/g, '\\$&') + '%') +
	" ESCAPE '\\'";

/* Where a trace begins on the clock that events have. */
const ORIGIN = '(SELECT min(first_ns) FROM track AS f WHERE ' +
	'f.trace_id = e.trace_id AND f.event_count > 0)';

/*
 * Ranks on one clock: 'profan ranks' says when each begins on it, and by how
 * much its own is too fast.  Else each trace begins at 0.
 */
const OWN = { begins_ns: 0, drift_ppm: 0 };
const onClock = (c, ns) => c.begins_ns + ns * (1 - c.drift_ppm / 1e6);
const offClock = (c, ns) => (ns - c.begins_ns) / (1 - c.drift_ppm / 1e6);

/*
 * Columns of a part are as long as a power of two or one and a half, and begin
 * at multiples: of such the program keeps what it has read of long tracks.
 */
const unitOf = (ns) => {
	const two = 2 ** Math.max(Math.floor(Math.log2(ns)), 0);
	return two > 1 && ns >= two * 1.5 ? two * 1.5 : two;
};
const columns = (ns) => ['--column', unitOf(ns) + 'ns'];

/* What the program said, by track and depth; clocks: of ranks. */
const pictureOf = (text, clocks) => {
	const { scalars, tables } = JSON.parse(text);
	const names = new Map(tables.names.map((n) => [n.name, n.text]));
	const colours = new Map(tables.classes.map((c, i) =>
		[c.class, COLOURS[i]]));
	const rows = new Map(), found = new Map();
	const samples = new Map();
	const ranks = new Map(tables.tracks.map((t) => [t.track, t.rank]));
	const placed = (rank, ns) => onClock(clocks.get(rank) || OWN, ns);
	if (clocks.size) {
		for (const s of [...tables.samples, ...tables.slices])
			s.start_ns = placed(ranks.get(s.track), s.start_ns);
		for (const s of tables.steps)
			for (const k of ['from_ns', 'to_ns'])
				s[k] = placed(s.rank, s[k]);
		scalars.to_ns = tables.slices.reduce((end, s) => Math.max(end,
			s.start_ns + s.dur_ns), scalars.to_ns);
	}
	for (const s of tables.samples) { /* each holds until the next */
		const list = samples.get(s.track) || [];
		samples.set(s.track, list);
		s.end_ns = scalars.to_ns;
		if (list.length)
			list.at(-1).end_ns = s.start_ns;
		list.push(s);
	}
	for (const s of tables.slices) {
		const track = rows.get(s.track) || [];
		rows.set(s.track, track);
		s.text = names.get(s.name);
		s.colour = colours.get(s.class);
		(track[s.depth] ||= []).push(s);
		if (s.event_id !== null)
			found.set(s.event_id, s);
	}
	const { from_ns: from, to_ns: to, pixels } = scalars;
	return { from, to, pixels, per: pixels / Math.max(to - from, 1), tracks: tables.tracks, rows, found, samples,
		steps: tables.steps, classes: tables.classes,
		events: scalars.events };
};

const newTimeline = (args, isOneClock) => {
	/* What is asked apart: whole and held are answers, held the newest
	 * first; isFine: whole is as fine as it gets, or cannot be had. */
	const part = (which) => ({ which, whole: null, held: [], layers: [],
		isFine: false });
	const all = part('all'), idle = part('idle'), path = part('path');
	const counters = part('counters');
	const parts = [all, idle, path, counters];
	let partners = [], isAsking = false, isReady = false, counting = 0;
	let movedAt = -Infinity, resting = 0;
	/* What is seen, and what was PACE_MS ago, or a move. */
	let here = null, before = null, beforeAt = -Infinity;
	let foreseen = null; /* the view for which what may come was asked */
	let clocks = new Map(); /* of ranks */
	const folded = new Set(), depths = new Map();
	/* All tracks, and numbers of those that are pinned or hidden. */
	let tracks = [], pinned = [], hidden = [];

	/* -- asking -- */

	const ask = async (which, ...how) => pictureOf((await runWell(
		['timeline', ...args, '--tracks', which, ...how, '--limit',
			'-1', '--format', 'json'],
		{ stays: which !== 'path' })).out, clocks); /* it takes much */
	const clockOf = (track) => clocks.get(track?.rank) || OWN;

	/* Of each trace its path, idle time, streams and threads. */
	const learn = (p, picture) => {
		const known = new Set(tracks.map((t) => t.track));
		for (const t of picture.tracks)
			depths.set(t.track, Math.max(t.depths,
				depths.get(t.track) || 0));
		const fresh = picture.tracks.filter((t) => !known.has(t.track));
		if (p === counters && fresh.length > GRAPHS)
			fresh.forEach((t) => folded.add(t.track));
		tracks = [...tracks, ...fresh.map((t) => ({ ...t, part: p }))]
			.filter((t) => t.events || depths.get(t.track));
		tracks.sort((a, b) => a.trace_id - b.trace_id ||
			ORDER.indexOf(a.part.which) - ORDER.indexOf(b.part.which));
		arrange();
	};

	/* Those that are pinned stand above all others, and stay there. */
	const arrange = () => {
		for (const t of tracks)
			t.isPinned = pinned.includes(t.track);
		line.tracks = [...pinned.map((n) => tracks.find((t) =>
			t.track === n)).filter(Boolean), ...tracks.filter((t) =>
			!t.isPinned && !hidden.includes(t.track))];
		line.layout();
		showMenu();
	};

	/* What would take long at each zoom is that of the whole at any. */
	const isOfWhole = (which) => which === 'path' ||
		(which === 'counters' && all.whole.events > MANY);

	/* The answer that has all of a view as fine as it can be drawn. */
	const isGood = ({ which, whole, held }, v0 = line.v0, v1 = line.v1) => {
		const finest = Math.min(line.plot() / (v1 - v0) * FRESH, 1);
		const good = (p) => p.from <= Math.max(v0, 0) &&
			p.to >= Math.min(v1, line.span) && p.per >= finest;
		return whole && (held.find(good) || ((good(whole) ||
			isOfWhole(which) || !whole.tracks.length) && whole));
	};

	/*
	 * What will be seen after one or two more moves like the last: asked
	 * when it is seen, an answer takes longer (40 to 110 ms of processor
	 * time, 1.1 GB) than a move may.
	 */
	const ahead = (moves) => {
		const [v0, v1] = here, [a, b] = before, f = (v1 - v0) / (b - a);
		const by = (v0 + v1 - a - b) / 2 * f;
		const half = Math.max((v1 - v0) * f ** moves, LEAST) / 2;
		const mid = (v0 + v1) / 2 + by * (moves > 1 ? 1 + f : 1);
		return f < 0.4 || f > 2.5 || Math.abs(by) > 2 * (v1 - v0) ? here
			: [mid - half, mid + half];
	};
	/* Once for each view: an answer may have less than was guessed. */
	const isComing = () => here && here !== foreseen && all.whole &&
		!isGood(all, ...ahead(1));

	const askWhole = async (p) => {
		p.whole = await ask(p.which, ...columns(line.span /
			(isOfWhole(p.which) ? WHOLE_COLUMNS
				: line.plot() * FINE)));
		learn(p, p.whole);
	};

	/* Ask for what is seen and what will be, with some at both sides. */
	const askSeen = async (p) => {
		const { v0, v1, span } = line, w = v1 - v0;
		const [a, b] = here ? ahead(2) : [v0, v1];
		if (p === all)
			foreseen = here;
		const from = Math.max(Math.floor(Math.min(v0, a) - w / 4), 0);
		const to = Math.ceil(Math.min(Math.max(v1, b) + w / 4, span)) + 1;
		const list = clocks.size ? [...clocks.values()] : [OWN];
		const own = list.flatMap((c) => [from, to].map((ns) =>
			offClock(c, ns)));
		const first = Math.max(0, Math.min(...own));
		const last = Math.max(first + 1, ...own);
		const unit = unitOf(Math.max((last - first) / MOST_COLUMNS,
			Math.min(w, (b - a) / FRESH) / line.plot()));
		const picture = await ask(p.which, ...columns(unit),
			'--from', Math.floor(first / unit) * unit + 'ns',
			'--to', Math.ceil(last / unit) * unit + 'ns');
		p.held = [{ ...picture, from, to }, ...p.held].slice(0, HELD);
		learn(p, picture);
	};

	/* Events that are seen or will be first, then what else is seen, and then
	 * the whole of each part. */
	const refresh = async () => {
		const isStale = (p) => p.whole && !isGood(p);
		const seen = isStale(all) || isComing() ? all
			: parts.find(isStale);
		const p = seen || parts.find((k) => !k.isFine);
		if (isAsking || !isReady || !line.canvas.isConnected || !p)
			return;
		clearTimeout(resting);
		if (p !== all && performance.now() - movedAt < REST_MS) {
			resting = setTimeout(refresh, REST_MS);
			return;
		}
		isAsking = true;
		try {
			p.isFine ||= !seen;
			await (seen ? askSeen : askWhole)(p);
		} catch (e) {
			if (!(e instanceof Stopped))
				line.told.textContent = sentenceOf(e);
			isReady = e instanceof Stopped || p !== all;
		}
		isAsking = false;
		line.dirty();
	};

	/* When each rank begins on one clock; if they have one. */
	const askClocks = async () => {
		const { scalars, tables } = JSON.parse((await runWell(['ranks',
			...args, '--limit', '-1', '--format', 'json'])).out);
		if (!tables.clocks)
			line.told.textContent = 'Ranks have no clock in common: ' +
				(scalars.withheld || scalars.finding);
		return new Map((tables.clocks || []).map((c) => [c.rank, c]));
	};

	/* The first picture: GPU streams and steps, then the rest. */
	const begin = async () => {
		line.layout();
		if (isOneClock)
			clocks = await askClocks();
		for (const which of ['gpu', 'all']) {
			const p = await ask(which, ...which === 'gpu'
				? ['--pixels', FIRST_PIXELS]
				: columns(line.span / line.plot()));
			line.span = Math.max(p.to, line.span);
			if (which === 'gpu' && !p.tracks.length)
				continue;
			if (!all.whole) {
				p.classes.forEach((c, i) =>
					line.explain(c.class, COLOURS[i]));
				if (line.v1 === LEAST)
					line.v1 = line.span;
			}
			all.whole = p;
			if (which === 'all')
				tracks = [];
			learn(all, p);
		}
		if (all.whole.events > MANY) {
			path.isFine = true;
			const b = line.button('Critical path', () => {
				path.isFine = false;
				b.remove();
				refresh();
			});
			line.search.before(b);
		}
		if (new Set(tracks.map((t) => t.rank)).size > 1) {
			const b = line.button('Ranks on one clock', () => go({
				'one-clock': isOneClock ? '' : '1' }));
			b.setAttribute('aria-pressed', isOneClock);
			line.search.before(b);
		}
		line.isWhole = isReady = true;
		line.clamp();
		line.dirty();
	};

	/* What is seen, in the address. */
	let writing = 0;
	const remember = () => {
		clearTimeout(writing);
		writing = setTimeout(() => {
			if (!line.canvas.isConnected || !isReady)
				return;
			const at = Math.round(line.v0) + '..' + Math.round(line.v1);
			history.replaceState(null, '', hrefOf({ at,
				pin: pinned.join(), hide: hidden.join() }));
			if ('at' in $('main').dataset)
				$('main').dataset.at = location.hash;
		}, 150);
	};

	/* -- drawing -- */

	/* What is held lies over what is known of the whole. */
	const layersOf = (p) => {
		const { whole, held } = p, { v0, v1 } = line;
		if (!whole)
			return [];
		const best = isGood(p) || held.find((h) => h.from < v1 &&
			h.to > v0 && h.per > whole.per) || whole;
		return best === whole || (best.from <= v0 && best.to >= v1)
			? [[best, v0, v1]]
			: [[whole, v0, v1], [best, best.from, best.to]];
	};

	/* Boxes without room for a name, side by side in one colour, are one. */
	const paintRow = (row, y, from, to) => {
		const { v0, v1, xOf, query } = line;
		let run = null;
		const put = () => {
			if (!run)
				return;
			const a = Math.max(run.x, xOf(v0)), width = run.end - a;
			ctx.globalAlpha = run.alpha;
			ctx.fillStyle = run.colour;
			ctx.fillRect(width > 1 ? a : Math.floor(a), y,
				Math.max(width, 1), ROW - 1);
			run = null;
		};
		for (const s of row || []) {
			const end = s.start_ns + s.dur_ns;
			if (s.start_ns > Math.min(to, v1) || end < Math.max(from, v0))
				continue;
			const alpha = query && !s.text.toLowerCase()
				.includes(query) ? 0.15 : 1;
			const x = xOf(s.start_ns), room = xOf(end) - x;
			const isSmall = room <= SMALL;
			if (!isSmall || !run || x > run.end ||
			    run.colour !== s.colour || run.alpha !== alpha) {
				put();
				run = isSmall && { x, end: x, alpha,
					colour: s.colour };
			}
			if (isSmall) {
				run.end = Math.max(run.end, x + Math.max(room, 1));
				continue;
			}
			ctx.globalAlpha = alpha;
			line.paintBox(x, room, y, s.colour, s.text);
		}
		put();
		ctx.globalAlpha = 1;
	};

	/* How much of a counter's height a value is; it begins at 0 if it can. */
	const shareOf = (t, value) => {
		const base = Math.min(t.least, 0);
		return (value - base) / (Math.max(t.most, 0) - base || 1);
	};

	/* A row of a counter: from the least to the most of a column, and the
	 * last until the next. */
	const paintGraph = (t, d, y, samples) => {
		const { v0, v1, xOf } = line, all = t.shown * ROW - 2;
		const bottom = y + (t.shown - d) * ROW - 1;
		const yOf = (value) => Math.round(bottom - shareOf(t, value) * all);
		ctx.save();
		ctx.beginPath();
		ctx.rect(xOf(v0), y, xOf(v1) - xOf(v0), ROW);
		ctx.clip();
		ctx.fillStyle = css.link;
		const put = ({ x, end, last, least, most }) => {
			const top = yOf(last), zero = yOf(0);
			ctx.globalAlpha = 0.25;
			ctx.fillRect(x, Math.min(top, zero), end - x,
				Math.abs(zero - top));
			ctx.globalAlpha = 1;
			ctx.fillRect(x, top, Math.max(end - x, 1), 1);
			ctx.fillRect(x, yOf(most), 1, yOf(least) - yOf(most));
		};
		let at = null; /* what begins in one column of pixels */
		for (const s of samples || []) {
			if (s.start_ns > v1 || s.end_ns < v0)
				continue;
			const x = Math.floor(xOf(s.start_ns));
			if (at?.x !== x) {
				if (at)
					put(at);
				at = { x, least: s.least, most: s.most };
			}
			at.least = Math.min(at.least, s.least);
			at.most = Math.max(at.most, s.most);
			at.last = s.last;
			at.end = Math.floor(xOf(s.end_ns));
		}
		if (at)
			put(at);
		ctx.restore();
	};

	const paint = (t, d, y) => t.part.layers.forEach(([p, from, to], i) => {
		if (i) { /* over what is known of the whole */
			const a = line.xOf(Math.max(from, line.v0));
			ctx.fillStyle = css.bg;
			ctx.fillRect(a, y, line.xOf(Math.min(to, line.v1)) - a,
				ROW);
		}
		if (t.part === counters)
			paintGraph(t, d, y, p.samples.get(t.track)?.filter((s) =>
				s.start_ns < to && s.end_ns > from));
		else
			paintRow(p.rows.get(t.track)?.[d], y, from, to);
	});

	/* From a call to what it launched. */
	const arrow = ([from, to]) => {
		const a = line.placeOf(from), b = line.placeOf(to);
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

	/* -- events -- */

	const showValue = ({ unit }, value) => unit === 'bytes'
		? showBytes(value) : showReal(value);

	const showSpan = (t, { least, most }) => showValue(t, least) +
		(least === most ? '' : ' to ' + showValue(t, most));

	/* What a counter was at an instant, as something that is selected. */
	const findSample = (t, depth, at) => {
		const s = t.part.layers.at(-1)?.[0].samples.get(t.track)?.find(
			(k) => k.start_ns <= at && k.end_ns > at);
		if (!s)
			return null;
		const of = s.least === s.most ? '' : showSpan(t, s) + ' in ' +
			count(s.events) + ' samples';
		return { event_id: null, track: t.track, depth,
			start_ns: s.start_ns, dur_ns: s.end_ns - s.start_ns,
			text: showValue(t, s.last), class: of };
	};

	const find = (t, d, x) => {
		if (t.part === counters)
			return findSample(t, d, line.atX(x));
		const px = (line.v1 - line.v0) / line.plot(), at = line.atX(x);
		return t.part.layers.at(-1)?.[0].rows.get(t.track)?.[d]?.find((s) =>
			s.start_ns <= at && s.start_ns + Math.max(s.dur_ns, px) >=
			at);
	};

	const rowsOfQuery = async (sql) => Object.values(parseDocument(
		(await runWell(['query', args[0], sql, '--format', 'json']))
			.out).tables)[0] || [];

	/* An event as it would be drawn; its depth is known if it is. */
	const sliceOf = (e) => [...all.held, all.whole].map((p) =>
		p.found.get(e.id)).find(Boolean) || { event_id: e.id,
		track: e.track_id, depth: Infinity, start_ns: e.at_ns,
		dur_ns: e.dur_ns, text: e.name };
	const eventSql = () => {
		const traces = new Map(tracks.map((t) => [t.trace_id, t]));
		const own = '(e.start_ns - ' + ORIGIN + ')';
		const at = [...traces].map(([id, t]) => `WHEN ${id} THEN ${
			clockOf(t).begins_ns} + ${own} * ${
			1 - clockOf(t).drift_ppm / 1e6}`).join(' ');
		return 'e.id, e.track_id, e.name, e.dur_ns, ' + (at
			? 'CASE e.trace_id ' + at + ' END' : own) + ' AS at_ns';
	};

	const trackOf = (s) => line.tracks.find((t) => t.track === s.track);
	const words = (s) => [s.text, [s.class, time(s.dur_ns) + ' from ' +
		time(s.start_ns), trackOf(s)?.label].filter(Boolean).join(', ')];

	const tell = async (s) => {
		partners = [];
		if ((s?.event_id ?? null) === null)
			return;
		try {
			const id = s.event_id;
			const event = (await rowsOfQuery('SELECT * FROM event ' +
				'WHERE id = ' + id))[0];
			const others = await rowsOfQuery('SELECT ' + eventSql() +
				', e.id = g.launch_id AS is_launch FROM ' +
				'gpu_event AS g JOIN event AS e ON e.id = ' +
				'CASE WHEN g.event_id = ' + id + ' THEN ' +
				'g.launch_id ELSE g.event_id END WHERE ' +
				'g.event_id = ' + id + ' OR g.launch_id = ' + id);
			if (line.selected !== s)
				return;
			const isLaunch = others[0]?.is_launch;
			const slices = others.map(sliceOf);
			partners = slices.map((o) => isLaunch ? [o, s] : [s, o]);
			if (others.length)
				line.lead(slices.slice(0, 4), isLaunch);
			const list = make('dl', { className: 'facts' });
			for (const [k, v] of Object.entries(event || {}))
				if (!isNothing(v))
					list.append(make('div', {},
						make('dt', {}, k), make('dd', {},
							String(v))));
			line.said.append(make('details', {}, make('summary', {},
				'As the trace has it'), list));
			line.dirty();
		} catch (e) {
			line.said.append(make('p', { className: 'error' },
				sentenceOf(e)));
		}
	};

	/* -- searching: what is drawn at once, then all events -- */

	const search = () => {
		const { query } = line;
		clearTimeout(counting);
		line.told.textContent = '';
		counting = query && setTimeout(async () => {
			try {
				const [{ n }] = await rowsOfQuery('SELECT ' +
					'count(*) AS n FROM event AS e WHERE ' +
					'e.name LIKE ' + sqlLike(query));
				if (query === line.query)
					line.told.textContent = count(n) + ' found';
			} catch (e) {
				line.told.textContent = sentenceOf(e);
			}
		}, 300);
	};

	const step = async (way) => {
		if (!line.query || !all.whole)
			return;
		try {
			const at = Math.round(line.selected?.start_ns ??
				(way > 0 ? line.v0 - 1 : line.v1));
			const [e] = await rowsOfQuery('SELECT ' + eventSql() +
				' FROM event AS e JOIN track AS t ON t.id = ' +
				"e.track_id WHERE t.class IN ('host', 'gpu') AND " +
				'e.name LIKE ' + sqlLike(line.query) +
				' AND at_ns ' + (way > 0 ? '> ' : '< ') + at +
				' ORDER BY at_ns ' + (way > 0 ? '' : 'DESC ') +
				'LIMIT 1');
			if (e)
				line.goTo(sliceOf(e));
			else
				line.told.textContent = 'no more';
		} catch (e) {
			complain(e);
		}
	};

	/* -- tracks that are pinned or hidden -- */

	const toggle = (list, n) => list.includes(n) ? list.filter((k) => k !== n)
		: [...list, n];
	const setTracks = (pins, hides) => {
		pinned = pins.filter((n) => !hides.includes(n));
		hidden = hides;
		arrange();
		remember();
	};
	const pin = (n) => setTracks(toggle(pinned, n),
		hidden.filter((k) => k !== n));
	const hide = (n) => setTracks(pinned, toggle(hidden, n));
	const showAll = () => setTracks(pinned, []);

	const menu = make('details', { className: 'tracks' });
	const menuTitle = make('summary'), menuList = make('ul');
	menu.append(menuTitle, menuList);
	menu.addEventListener('toggle', () => showMenu());
	const itemOf = (t) => {
		const box = make('input', { type: 'checkbox',
			checked: !hidden.includes(t.track) });
		box.addEventListener('change', () => hide(t.track));
		const b = line.button(t.isPinned ? 'Unpin' : 'Pin', () =>
			pin(t.track));
		b.setAttribute('aria-label', b.textContent + ' ' + t.label);
		return make('li', {}, make('label', {}, box, t.label,
			t.rank === null ? '' : ', rank ' + t.rank), b);
	};
	const showMenu = () => {
		const at = [...menuList.querySelectorAll('input, button')]
			.indexOf(document.activeElement);
		menuTitle.textContent = 'Tracks' + (hidden.length ? ', ' +
			hidden.length + ' hidden' : '');
		menuList.replaceChildren(...menu.open ? tracks.map(itemOf) : []);
		menuList.querySelectorAll('input, button')[at]?.focus();
	};

	const line = newCanvas({
		find, words, tell, search, step, paint,
		rows: (t) => folded.has(t.track) ? 0 : t.part === counters
			? GRAPH_ROWS : depths.get(t.track) || 0,
		head: (t) => [!folded.has(t.track), t.label, [
			t.isPinned && 'pinned',
			t.rank === null ? '' : 'rank ' + t.rank,
			...t.part === counters ? [t.pid, showSpan(t, t)]
				: [count(t.events)]].filter(Boolean).join(', ')],
		fold: (t) => folded.delete(t.track) || folded.add(t.track),
		place: (s) => [trackOf(s), s.depth],
		open(s) {
			folded.delete(s.track);
			if (hidden.includes(s.track))
				hide(s.track);
		},
		steps: () => ({ steps: (all.layers.at(-1)?.[0].steps || []).filter((s) =>
			s.trace_id === line.tracks[0]?.trace_id).map((s) =>
			[s.from_ns, s.to_ns, s.step]) }),
		begin() {
			for (const p of parts)
				p.layers = layersOf(p);
			if (!all.whole) {
				ctx.fillStyle = css.muted;
				ctx.fillText('Reading…', line.xOf(line.v0),
					RULER + 20);
			}
			refresh();
		},
		under: () => partners.forEach(arrow),
		over() {
			const top = line.tracks.filter((t) => t.isPinned);
			if (!top.length)
				return;
			const all = top.reduce((sum, t) => sum + HEAD +
				t.shown * ROW + GAP, RULER);
			ctx.save();
			ctx.beginPath();
			ctx.rect(0, RULER, line.canvas.clientWidth, all - RULER);
			ctx.clip();
			ctx.fillStyle = css.bg;
			ctx.fill();
			line.paint(top);
			ctx.restore();
			ctx.fillStyle = css.muted;
			ctx.fillRect(0, all - 1, line.canvas.clientWidth, 1);
		},
		moved() {
			movedAt = performance.now();
			if (movedAt - beforeAt > PACE_MS) {
				before = here;
				beforeAt = movedAt;
			}
			here = [line.v0, line.v1];
			before ||= here;
			remember();
			refresh();
		},
		/* On one clock: of the rank whose track it is. */
		ask(a, b, track = trackOf(line.selected || {}) || line.tracks[0]) {
			const [from, to] = [a, b].map((ns) => Math.max(Math.round(
				offClock(clockOf(track), ns)), 0) + 'ns');
			go({ from, to, ...clocks.has(track?.rank) &&
				{ rank: track.rank } });
		},
		clear: () => line.range && go({ from: '', to: '',
			...clocks.size && { rank: '' } }),
	});
	const { ctx, css } = line;
	line.search.before(menu);
	line.nodes[3].append(TRACK_KEYS);
	showMenu();

	let pointer = -1;
	line.canvas.addEventListener('pointermove', (e) => {
		pointer = e.offsetY;
	});
	line.canvas.addEventListener('keydown', (e) => {
		const t = line.trackAt(pointer) || trackOf(line.selected || {});
		const run = !e.ctrlKey && !e.metaKey && !e.altKey &&
			{ __proto__: null, p: t && (() => pin(t.track)),
				h: t && (() => hide(t.track)), u: showAll }[e.key];
		if (run) {
			e.preventDefault();
			e.stopPropagation();
			run();
		}
	});

	let hasBegun = false;
	return {
		line, node: make('div', {}, ...line.nodes),
		/* What the address says; the node is in the page. */
		show(options) {
			const at = /^(\d+)\.\.(\d+)$/.exec(options.get('at') || '');
			const ns = (k) => /^(\d+)ns$/.exec(options.get(k) || '')?.[1];
			const from = ns('from'), to = ns('to');
			const c = clockOf({ rank: Number(options.get('rank')) });
			const range = from && to ? [from, to].map((n) =>
				onClock(c, Number(n))) : null;
			const numbers = (k) => (options.get(k) || '').split(',')
				.filter((n) => /^-?\d+$/.test(n)).map(Number);
			let { v0, v1 } = line;
			line.range = range;
			if (!hasBegun || options.has('pin') || options.has('hide')) {
				pinned = numbers('pin');
				hidden = numbers('hide');
				arrange();
			}
			if (at) {
				[v0, v1] = [Number(at[1]), Number(at[2])];
			} else if (range && (range[0] < v0 || range[1] > v1 ||
			    !hasBegun || range[1] - range[0] < (v1 - v0) / 50)) {
				const room = (range[1] - range[0]) * 0.3 + LEAST;
				[v0, v1] = [range[0] - room, range[1] + room];
			}
			if (hasBegun) {
				line.setView(v0, v1);
				return;
			}
			hasBegun = true;
			line.v0 = v0;
			line.v1 = v1;
			begin().then(() => {
				if (clocks.size) /* the range is on it */
					this.show(options);
			}).catch((e) => {
				hasBegun = false;
				line.told.textContent = sentenceOf(e);
			});
		},
		/* For tests: what is seen, and whether it is all there is. */
		state: () => ({ v0: line.v0, v1: line.v1, span: line.span,
			range: line.range, selected: line.selected,
			tracks: line.tracks.map((t) => ({ ...t,
				depth: depths.get(t.track) })),
			isGood: isReady && !isAsking && parts.every((p) =>
				p.isFine && (!p.whole || isGood(p))),
			isSharp: isReady && Boolean(isGood(all)), /* events */
			partners: partners.length }),
		drawn: (p = all) => layersOf(p).at(-1)[0],
		counters,
	};
};

/* ---- the view ---- */

let chart = null; /* of the capture that was shown last */

/* Options of a part that a timeline is of: all but the range. */
const timelineOf = ({ options }) => {
	const isOneClock = options.has('one-clock');
	const ofRange = ['from', 'to', ...isOneClock && options.has('from')
		? ['rank'] : []];
	const args = [shown.db, ...optionsOf('timeline').filter((o) =>
		WINDOW.includes(o.name) && !ofRange.includes(o.name) &&
		options.get(o.name)).flatMap((o) =>
		wordsOf(o, options.get(o.name)))];
	const key = [isOneClock, ...args].join('\0');
	if (chart?.key !== key || chart.blob !== shown.blob)
		chart = { ...newTimeline(args, isOneClock), key,
			blob: shown.blob };
	return chart;
};

/* The same questions as other views ask, of the range. */
const showRange = async ({ options }, isWanted, answer) => {
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
		if (isWanted())
			answer.replaceChildren(...nodes);
	}
	return nodes;
};
