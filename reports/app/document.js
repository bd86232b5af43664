/*
 * A document of a command, as nodes: what it found, what to do, its figures,
 * tables and notes.  All commands are shown by this; what a column is called
 * and of which kind it is says "profan help --format json".
 */

const BIG = '\0'; /* no key of a document */

/* Whole numbers that a double cannot hold become BigInts. */
const parseDocument = (text) => {
	let isBig = false;
	const safe = text.replace(
		/"[^"\\]*(?:\\.[^"\\]*)*"|(?<![\d.eE])-?\d{16,}(?![\d.eE])/g,
		(s) => {
			if (s[0] === '"' || Number.isSafeInteger(Number(s)))
				return s;
			isBig = true;
			return '{"\\u0000":"' + s + '"}';
		});
	return JSON.parse(safe, isBig ? (k, v) => v?.[BIG] ? BigInt(v[BIG]) : v
		: undefined);
};

/* Keys in the order of the text, which JSON.parse() loses of numbers. */
const keysOf = (text) => {
	const at = text.indexOf('{"', text.indexOf('"tables": {'));
	const line = at < 0 ? '' : text.slice(at, text.indexOf('\n', at));
	return [...line.matchAll(/("[^"\\]*(?:\\.[^"\\]*)*")(: )?/g)]
		.filter((m) => m[2]).map((m) => JSON.parse(m[1]));
};

const isNumber = (kind) => kind !== 'text' && kind !== 'path' &&
	kind !== 'any';
const isNothing = (v) => v === null || v === undefined || v === '';

/* What the program says of itself, as it was asked when the page was made: its
 * commands, and words that are ours. */
const { commands: COMMANDS, words: GLOSSARY } =
	JSON.parse($('known').textContent);

/* What a title means, or a value in the column of a key, as a tooltip: up to a
 * comma, as in "clear, B below A". */
const tipOf = (word, key = 'title') => {
	const [name] = String(word).toLowerCase().split(',');
	const found = GLOSSARY.find((g) => g.of.split(' ').includes(key) &&
		g.word.toLowerCase() === name);
	return found ? { title: found.meaning } : {};
};

/*
 * The columns of a table in which anything stands; isMore: those that text
 * leaves out.  Names of a tree it has indented, in a column of its own.
 */
const columnsOf = (rows, known, text) => {
	const keys = known?.length ? Object.keys(rows[0]) : keysOf(text);
	const all = keys.map((name) => known?.find((c) => c.name === name) ||
		{ name, title: name, kind: 'any' });
	return all.filter((c) => rows.some((r) => !isNothing(r[c.name])))
		.map((c) => ({ ...c, isMore: c.people === false &&
			!(c.name === 'name' && keys.includes('depth')),
			isRight: isNumber(c.kind) || rows.every((r) =>
				typeof r[c.name] !== 'string') }));
};

/* ---- tables ---- */

const bar = (share) => {
	const svg = (tag, attributes, ...kids) => {
		const e = document.createElementNS('http://www.w3.org/2000/svg',
			tag);
		for (const [k, v] of Object.entries(attributes))
			e.setAttribute(k, v);
		e.append(...kids);
		return e;
	};
	return svg('svg', { class: 'b', width: 48, height: 8,
		viewBox: '0 0 100 8', 'aria-hidden': true },
		svg('rect', { width: 100 * share, height: 8 }));
};

/* Of a span of time, or of a start and a length, on the capture's clock. */
const timelineLink = (row) => {
	const from = row.from_ns ?? row.start_ns;
	const to = row.to_ns ?? (Number(from) + Number(row.dur_ns ??
		row.gap_ns ?? row.ns));
	return typeof from !== 'number' || !(to > from) ? [] : [make('a',
		{ className: 'show', href: hrefOf({ view: 'timeline',
			from: from + 'ns', to: to + 'ns' }),
		title: 'Show it in the timeline',
		'aria-label': 'Show it in the timeline' })];
};

/* A span of time is the way to ask everything of it. */
const spanLink = (text, row) => make('a', {
	href: hrefOf({ from: row.from_ns + 'ns', to: row.to_ns + 'ns' }),
	title: 'Ask all views of this time only' }, text);

const hasSpan = (row) => !isNothing(row.from_ns) && !isNothing(row.to_ns);

/* Of a line of code the folders stand apart: they are shown in an open row. */
const withFolder = (text) => {
	const [, folder, line] =
		/^((?:[^\s/]+\/)+)([^\s/]+:\d+ .*)$/.exec(text) || [];
	return folder ? [make('i', {}, folder), line] : [text];
};

const cellOf = (row, column, isHead, hasBar) => {
	const v = row[column.name], text = show(v, column.kind);
	const cell = make(isHead ? 'th' : 'td', { ...tipOf(v, column.name),
		...isHead ? { scope: 'row' } : {} });
	if (column.isMore)
		cell.dataset.more = '';
	if (isHead && column.name === 'name' && row.depth > 1)
		cell.style.paddingLeft = row.depth - 1 + 'em';
	if (!isNothing(v) && typeof v !== 'string')
		cell.dataset.v = String(v);
	else if (column.isRight)
		cell.classList.add('n');
	if (hasBar && typeof v === 'number' && v >= 0 && v <= 1)
		cell.append(bar(v));
	cell.append(...column.name === 'from_ns' && hasSpan(row)
		? [spanLink(text, row), ...timelineLink(row)]
		: withFolder(text), ...column.name === 'start_ns' &&
		column.kind === 'ns' ? timelineLink(row) : []);
	return cell;
};

const ROWS = 1000; /* that stand in a page; a command is asked for as many */

const tableOf = (name, title, rows, columns) => {
	const head = columns.findIndex((c) => !c.isRight && !c.isMore);
	const shares = columns.findIndex((c) => c.kind === 'ratio' &&
		!c.isMore);
	const line = (row) => make('tr', {}, ...columns.map((c, i) =>
		cellOf(row, c, i === head, i === shares)));
	const shown = rows.slice(0, ROWS).map(line);
	const table = make('table', { id: 't-' + name },
		make('caption', {}, title),
		make('thead', {}, make('tr', {}, ...columns.map((c) =>
			make('th', { scope: 'col',
				className: c.isRight ? 'n' : '',
				'data-k': c.name, ...tipOf(c.title),
				...c.isMore ? { 'data-more': '' } : {} },
			c.title)))),
		make('tbody', {}, ...shown.slice(0, TOP)));
	if (shown.length > TOP)
		table.append(make('tbody', { className: 'more' },
			...shown.slice(TOP)));
	return table;
};

/* What is seen of a table, for a spreadsheet: cells as they are shown. */
const asText = (table) => [...table.rows].filter((r) => !r.hidden &&
	r.getClientRects().length)
	.map((r) => [...r.cells].filter((c) => c.getClientRects().length)
		.map((c) => c.textContent).join('\t'))
	.join('\n') + '\n';

/* Shows what text leaves out, if there is any. */
const moreOf = (node, n, what) => {
	const b = make('button', { type: 'button', 'aria-pressed': 'false' },
		count(n) + ' more ' + what + (n > 1 ? 's' : ''));
	b.addEventListener('click', () => b.setAttribute('aria-pressed',
		node.classList.toggle('whole')));
	return n ? [b] : [];
};

/* "csv" is null, or gives the whole table as the terminal prints it. */
const addTable = (name, title, rows, columns, csv) => {
	const table = tableOf(name, title, rows, columns);
	const box = make('div', { className: 'block' },
		make('div', { className: 't' }, table));
	addLife(box);
	let tools = box.querySelector('.tools');
	if (!tools) {
		tools = make('div', { className: 'tools' },
			make('b', { 'aria-hidden': true }, title));
		table.caption.className = 'h';
		box.prepend(tools);
	}
	if (rows.length > ROWS)
		tools.append(make('span', {}, 'the first ' + count(ROWS) +
			' of ' + count(rows.length) + ' rows'));
	tools.append(...moreOf(table, columns.filter((c) => c.isMore).length,
		'column'));
	const copy = copyButton(() => asText(table), 'Copy');
	copy.setAttribute('aria-label', 'Copy: ' + title);
	tools.append(copy);
	if (csv) {
		const b = make('button', { type: 'button',
			'aria-label': 'Save as csv: ' + title }, 'csv');
		b.addEventListener('click', () => csv(name));
		tools.append(b);
	}
	return box;
};

/* A text whose numbers stay in one line with their units, as in a terminal
 * (pf_num_parts_unit()). */
const glued = (text) => text.split(
	/([\d.,]+ (?:%|[num]?s|[KMGTPE]?i?B)(?![^ ,.;:)]))/).map((part, i) =>
	i % 2 ? make('span', { className: 'line' }, part) : part);

/* ---- advice ---- */

const LEADS = ['title', 'sentence', 'remedy', 'severity', 'command', 'code',
	'id'];

/* A row that has a sentence: what is wrong, and what to do. */
const adviceOf = (row, columns, how) => {
	const value = (c) => {
		const text = show(row[c.name], c.kind);
		return c.name === 'from_ns' && hasSpan(row)
			? spanLink(text, row) : text;
	};
	const facts = columns.filter((c) => !LEADS.includes(c.name) &&
		(!c.isMore || c.name === 'from_ns') && c.name !== 'to_ns' &&
		!isNothing(row[c.name]));
	const item = make('li', { className: row.severity || '' });
	item.append(make('p', {}, make('strong', {},
		...glued(capital(row.title || row.sentence)))));
	if (row.title)
		item.append(make('p', {}, ...glued(row.sentence)));
	if (row.remedy && !how.length)
		item.append(make('p', { className: 'how' }, 'To try: ' +
			row.remedy));
	if (row.code && !how.length)
		item.append(make('pre', { className: 'try' }, row.code));
	if (facts.length)
		item.append(make('dl', { className: 'facts' }, ...facts.map(
			(c) => make('div', {}, make('dt', {}, c.title),
				make('dd', {}, value(c))))));
	if (how.length)
		item.append(make('pre', { className: 'try' }, how.join('\n')));
	if (row.command)
		item.append(commandLine(row.command));
	return item;
};

/* Texts of a row, less what stands above and below them. */
const linesOf = (texts, row) => (texts || []).filter((t) => t.id === row.id)
	.map((t) => t.text).filter((t) => !t.startsWith(row.sentence) &&
		t !== 'see: ' + row.command);

/* ---- the whole ---- */

const figuresOf = (scalars, known) => {
	const list = make('dl', { className: 'figures' });
	for (const [key, value] of Object.entries(scalars)) {
		const c = known?.find((k) => k.name === key) ||
			{ title: key, kind: 'any' };
		if (key === 'finding' || isNothing(value))
			continue;
		const dd = make('dd', { 'data-k': key }, show(value, c.kind));
		if (typeof value !== 'string')
			dd.dataset.v = String(value);
		const title = c.title.trim();
		list.append(make('div', c.people === false ? { 'data-more': '' }
			: {}, make('dt', tipOf(title), title), dd));
	}
	if (!list.children.length)
		return [];
	const more = list.querySelectorAll('[data-more]').length;
	return [list, ...more ? [make('div', { className: 'tools' },
		...moreOf(list, more, 'figure'))] : []];
};

const capital = (text) => text[0].toUpperCase() + text.slice(1);

/*
 * "text" is the command's JSON, "known" the command as the program describes
 * it, "csv" as above.
 */
const showDocument = (text, known, csv) => {
	const doc = parseDocument(text), out = new DocumentFragment();
	const { scalars: figures, tables = {}, titles = {} } =
		known.document || {};
	const texts = doc.tables.how;
	const { finding } = doc.scalars;
	/* The first of what is wrong says it, and here what follows it, too. */
	const said = finding && Object.values(doc.tables).map((rows) => rows[0])
		.find((r) => r?.sentence && finding.startsWith(r.sentence));
	if (finding && !said)
		out.append(make('p', { className: 'finding' },
			...glued(finding + '.')));
	const failed = doc.notes.filter((n) => n.startsWith('failed: '));
	if (failed.length)
		out.append(make('ul', { className: 'notes failed' },
			...failed.map((n) => make('li', {}, n))));
	out.append(...figuresOf(doc.scalars, figures));
	for (const [name, rows] of Object.entries(doc.tables)) {
		if (!rows.length)
			continue;
		const columns = columnsOf(rows, tables[name], text);
		const isAdvice = columns.some((c) => c.name === 'sentence');
		if (isAdvice)
			out.append(make('ol', { className: 'verdicts',
				id: 't-' + name }, ...rows.map((r) =>
				adviceOf(r === said ? { ...r, sentence: finding } : r,
					columns, linesOf(texts, r)))));
		else if (rows !== texts)
			out.append(addTable(name, titles[name] ||
				capital(name.replaceAll('_', ' ')), rows,
			columns, csv));
	}
	const notes = doc.notes.filter((n) => !failed.includes(n));
	if (notes.length)
		out.append(make('ul', { className: 'notes' },
			...notes.map((n) => make('li', {}, n))));
	return out;
};
