/*
 * The view of stacks: what "profan stacks" prints as a flame graph that hangs
 * from its root, on the canvas of timelines.  A frame is as wide as its sum, and
 * those of one caller stand in the order of their sums, the largest first.
 */

/* A colour that a name has everywhere, and which means nothing. */
const colourOf = (name) => {
	let n = 0;
	for (const c of name)
		n = (n * 31 + c.codePointAt(0)) >>> 0;
	return COLOURS[n % COLOURS.length];
};

/* A tree of lines "frame;frame N", whose sums are those of what is below. */
const treeOf = (text) => {
	const root = { name: '', sum: 0, below: new Map() };
	for (const stack of text.split('\n')) {
		const at = stack.lastIndexOf(' ');
		const n = Number(stack.slice(at + 1));
		if (at < 0)
			continue;
		let node = root;
		root.sum += n;
		for (const name of stack.slice(0, at).split(';')) {
			if (!node.below.has(name))
				node.below.set(name, { name, sum: 0,
					below: new Map() });
			node = node.below.get(name);
			node.sum += n;
		}
	}
	return root;
};

/* Its frames by depth, in the order of where they stand. */
const framesOf = (root) => {
	const rows = [], todo = [[root, 0, -1, null]];
	while (todo.length) {
		const [node, at, depth, parent] = todo.pop();
		const frame = depth < 0 ? null : { name: node.name, depth, parent,
			start_ns: at, dur_ns: node.sum,
			colour: colourOf(node.name) };
		if (frame)
			(rows[depth] ||= []).push(frame);
		let from = at;
		for (const b of [...node.below.values()]
			.sort((x, y) => y.sum - x.sum || (x.name < y.name ? -1 : 1))) {
			todo.push([b, from, depth + 1, frame]);
			from += b.sum;
		}
	}
	for (const row of rows)
		row.sort((x, y) => x.start_ns - y.start_ns);
	return rows;
};

/* kind: 'ns', 'bytes', or what is not known */
const newFlame = (text, kind) => {
	const root = treeOf(text), rows = framesOf(root);
	const amount = (n) => show(n, kind);
	const track = { track: 0 };
	let found = [];

	/* The first of a row that ends behind a place. */
	const firstAt = (row, at) => {
		let a = 0, b = row.length;
		while (a < b) {
			const m = (a + b) >> 1;
			if (row[m].start_ns + row[m].dur_ns <= at)
				a = m + 1;
			else
				b = m;
		}
		return a;
	};
	const isFound = (s) => s.name.toLowerCase().includes(line.query);

	/* Of frames that are narrower than a pixel one a pixel is drawn. */
	const paint = (t, d, y) => {
		const { v0, v1, xOf } = line, px = (v1 - v0) / line.plot();
		const row = rows[d] || [];
		for (let i = firstAt(row, v0); i < row.length;) {
			const s = row[i], x = xOf(s.start_ns);
			if (s.start_ns >= v1)
				break;
			line.ctx.globalAlpha = line.query && !isFound(s) ? 0.15 : 1;
			line.paintBox(x, xOf(s.start_ns + s.dur_ns) - x, y,
				s.colour, s.name);
			i = Math.max(i + 1, firstAt(row, Math.min(s.start_ns +
				s.dur_ns, s.start_ns + px) + (s.dur_ns < px ? px : 0)));
		}
		line.ctx.globalAlpha = 1;
	};

	const line = newCanvas({
		paint,
		find: (t, d, x) => rows[d]?.[firstAt(rows[d], line.atX(x))],
		words: (s) => [s.name, amount(s.dur_ns) + ', ' +
			showRatio(s.dur_ns / root.sum) + ' of all' + (s.parent
			? ', ' + showRatio(s.dur_ns / s.parent.dur_ns) + ' of ' +
				shorten(s.parent.name) : '')],
		tell(s) {
			if (s)
				line.said.append(line.button('Show it alone', () =>
					line.setView(s.start_ns,
						s.start_ns + s.dur_ns)));
		},
		search() {
			found = line.query ? rows.flat().filter(isFound) : [];
			line.told.textContent = line.query &&
				count(found.length) + ' found';
		},
		step(way) {
			const at = found.indexOf(line.selected) + way;
			if (found.length)
				line.goTo(found.at(at % found.length));
		},
		rows: () => rows.length,
		head: () => [true, 'All', amount(root.sum)],
		fold: () => line.setView(0, line.span),
		place: (s) => [track, s.depth],
		open: () => {},
		steps: () => ({ steps: [] }),
		ask: (a, b) => {
			line.range = null;
			line.setView(a, b);
		},
		/* the ruler is of time */
		over() {
			if (kind === 'ns')
				return;
			line.ctx.fillStyle = line.css.bg;
			line.ctx.fillRect(0, 0, line.xOf(line.v1), RULER);
			line.ctx.fillStyle = line.css.muted;
			line.ctx.fillText(amount(Math.round(line.v1 - line.v0)), 6,
				RULER - 7);
		},
	});
	line.canvas.setAttribute('aria-label', 'Flame graph');
	line.tracks = [track];
	line.span = line.v1 = Math.max(root.sum, LEAST);
	line.isWhole = true;
	return { line, rows, found: () => found.length };
};

let flame = null; /* what is shown, for tests */

/* What the command prints, and says of it. */
const showStacks = async (args, isWanted) => {
	const { out, err } = await runWell(args, { isWanted });
	const [, said, unit] = /^profan: ([\d.,]+ (\w+) .*)/m.exec(err) || [];
	flame = newFlame(out, /^[KMGTPE]?i?B$/.test(unit) ? 'bytes'
		: /^[num]?s$/.test(unit) ? 'ns' : 'count');
	return [make('p', { className: 'finding' }, said || err.trim()),
		make('div', {}, ...flame.line.nodes)];
};
