'use strict';
/* What the report and app/ share.  Nothing makes HTML from text: nodes are
 * created, and texts are set as text. */
const $ = (id) => document.getElementById(id);
const make = (tag, props, ...kids) => {
	const e = document.createElement(tag);
	for (const [k, v] of Object.entries(props || {})) {
		if (k in e && k !== 'list')
			e[k] = v;
		else
			e.setAttribute(k, v);
	}
	e.append(...kids);
	return e;
};

const count = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ',');

const fromBase64 = (text) => {
	if (Uint8Array.fromBase64)
		return Uint8Array.fromBase64(text);
	const raw = atob(text), out = new Uint8Array(raw.length);
	for (let i = 0; i < raw.length; i++)
		out[i] = raw.charCodeAt(i);
	return out;
};

const inflate = (id) => new Response(new Response(fromBase64($(id).textContent))
	.body.pipeThrough(new DecompressionStream('gzip')));

/* ---- tables ---- */

const TOP = 10; /* rows before "show all" */
const LONG = 24; /* what surely fits in a column */

const cellKey = (row, col) => {
	const c = row.cells[col];
	if (!c)
		return '';
	return c.dataset.v === undefined ? c.textContent : Number(c.dataset.v);
};

const compare = (a, b) => {
	if (typeof a === typeof b)
		return a < b ? -1 : a > b ? 1 : 0;
	return typeof a === 'number' ? -1 : 1;
};

const rowsOf = (table) => [...table.tBodies].flatMap((b) => [...b.rows]);

const sortBy = (table, th) => {
	const col = th.cellIndex, old = th.getAttribute('aria-sort');
	const isNumber = th.classList.contains('n');
	const up = old ? old === 'descending' : !isNumber;
	const rows = rowsOf(table).map((r) => [cellKey(r, col), r]);
	rows.sort(([a], [b]) => {
		if (a === '' || b === '')
			return (a === '') - (b === '');
		return up ? compare(a, b) : compare(b, a);
	});
	for (const h of table.tHead.rows[0].cells)
		h.removeAttribute('aria-sort');
	th.setAttribute('aria-sort', up ? 'ascending' : 'descending');
	const [first, more] = table.tBodies;
	rows.forEach(([, r], i) => (i < TOP || !more ? first : more).append(r));
};

const filterBy = (table, text, said) => {
	const want = text.trim().toLowerCase();
	let n = 0;
	for (const r of rowsOf(table)) {
		const names = [...r.cells].map((c) => c.title).join(' ');
		const is = (r.textContent + ' ' + names).toLowerCase()
			.includes(want);
		r.hidden = !is;
		n += is;
	}
	table.classList.toggle('all', want !== '' ||
		table.dataset.all === '1');
	said.textContent = want && count(n) + ' rows';
};

const addTools = (table) => {
	for (const th of table.tHead.rows[0].cells) {
		const b = make('button', { type: 'button' });
		b.append(...th.childNodes);
		b.addEventListener('click', () => sortBy(table, th));
		th.append(b);
	}
	table.addEventListener('click', (e) => {
		const row = e.target.closest('tbody tr');
		if (row && !e.target.closest('a, button') &&
		    String(getSelection()) === '')
			row.classList.toggle('open');
	});
	const total = rowsOf(table).length;
	if (total <= TOP)
		return;
	const said = make('span', { role: 'status' });
	const { caption } = table, title = caption.textContent;
	const input = make('input', { type: 'search', placeholder: 'Filter',
		'aria-label': 'Filter: ' + title });
	input.addEventListener('input', () =>
		filterBy(table, input.value, said));
	const all = make('button', { type: 'button' });
	const show = (on) => {
		table.dataset.all = on ? '1' : '';
		table.classList.toggle('all', on);
		all.textContent = on ? 'Show the first ' + TOP
			: 'Show all (' + count(total) + ')';
	};
	all.addEventListener('click', () => show(table.dataset.all !== '1'));
	show(false);
	const tools = make('div', { className: 'tools' }, input, all, said);
	if (!caption.className) { /* it stands beside the tools instead */
		tools.prepend(make('b', { 'aria-hidden': true }, title));
		caption.className = 'h';
	}
	table.parentNode.before(tools);
};

/* A tooltip holds for the same text further down, too. */
const addTips = (scope) => {
	const titles = new Map();
	for (const c of scope.querySelectorAll('.t tbody :is(th, td)')) {
		const text = c.textContent;
		if (c.title)
			titles.set(text, c.title);
		else if (text.length > LONG || titles.has(text) ||
		    c.querySelector('i'))
			c.title = titles.get(text) || text;
	}
};

const addLife = (scope) => {
	addTips(scope);
	scope.querySelectorAll('.t > table').forEach(addTools);
};

const UNITS = [[1, ' ns'], [1e3, ' us'], [1e6, ' ms'], [1e9, ' s']];
const time = (ns) => {
	if (ns < 0)
		return '-' + time(-ns);
	if (ns < 1000)
		return Math.round(ns) + ' ns';
	for (const [unit, name] of UNITS.slice(1, 3))
		for (const d of [2, 1, 0])
			if (Number((ns / unit).toFixed(d)) < 1000 / 10 ** d)
				return (ns / unit).toFixed(d) + name;
	return (ns / 1e9).toFixed(3) + ' s';
};
