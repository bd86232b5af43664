/*
 * The views: each is one command, or some, of which one is shown.  Which
 * options a command has, and what they mean, says the program.
 */

const VIEWS = [
	{ id: 'summary', title: 'Summary', commands: ['summary'] },
	{ id: 'timeline', title: 'Timeline', commands: ['timeline'] },
	{ id: 'tables', title: 'Tables', commands: ['table'] },
	{ id: 'steps', title: 'Steps', commands: ['steps'] },
	{ id: 'idle', title: 'Idle', commands: ['gaps'] },
	{ id: 'syncs', title: 'Syncs', commands: ['syncs'] },
	{ id: 'path', title: 'Path, what if', commands: ['path'] },
	{ id: 'advice', title: 'Advice', commands: ['advise'] },
	{ id: 'kernels', title: 'Kernels', commands: ['kernels', 'graphs'] },
	{ id: 'operators', title: 'Operators, ranges',
		commands: ['ranges', 'launches', 'calls'] },
	{ id: 'stacks', title: 'Flame graph', commands: ['stacks'] },
	{ id: 'modules', title: 'Modules', commands: ['modules'] },
	{ id: 'ranks', title: 'Communication, ranks',
		commands: ['overlap', 'ranks'] },
	{ id: 'memory', title: 'Memory', commands: ['memory', 'counters'] },
	{ id: 'roofline', title: 'Roofline', commands: ['roofline'] },
	{ id: 'diff', title: 'Diff', commands: ['diff'] },
	{ id: 'sql', title: 'SQL', commands: ['query'] },
	{ id: 'quality', title: 'Quality', commands: ['doctor', 'info'] },
	{ id: 'report', title: 'Report', commands: ['report'] },
];

const SQL = 'SELECT name, count(*) AS calls, sum(dur_ns) AS total_ns\n' +
	'FROM event GROUP BY name ORDER BY total_ns DESC LIMIT 20';

/* Options of files, of text's looks and of scripts: they say nothing here. */
const ELSEWHERE = ['help', 'quiet', 'width', 'format', 'output-dir', 'budget',
	'table', 'force', 'overwrite', 'fail-on', 'allow', 'max-per-step',
	'header', 'time-unit', 'max-name-width', 'max-src-width',
	'max-shapes-width', 'output', 'max-html', 'source-url', 'pixels', 'tracks',
	'threads', 'dry-run', 'timings', 'counts', 'color'];
const FILES = ['FILE', 'DB', 'DIR'];
const OF_PAGES = ['timeline', 'names', 'redact'];

const commands = new Map(COMMANDS.map((c) => [c.name, c]));

const optionsOf = (name) => commands.get(name).options.filter((o) =>
	!ELSEWHERE.includes(o.name) && !FILES.includes(o.value) &&
	(name === 'report' || !OF_PAGES.includes(o.name)));

/* ---- the command that is asked ---- */

const SEVERAL = ';'; /* between the values of an option that may be repeated */

const wordsOf = (option, value) => {
	const word = '--' + option.name;
	if (option.type === 'flag')
		return [word];
	return (option.type === 'list' ? value.split(SEVERAL) : [value])
		.map((v) => v.trim()).filter((v) => v)
		.flatMap((v) => v[0] === '-' ? [word + '=' + v] : [word, v]);
};

/* Its words; null: something is missing. */
const argsOf = ({ command, options }) => {
	const databases = command === 'diff' ? [shown, other] : [shown];
	if (!databases.every(Boolean))
		return null;
	return [command, ...databases.map((c) => c.db),
		/* a comment that it begins with is no option */
		...command === 'query' ? [(options.get('sql') || SQL)
			.replace(/^-/, ' -')] : [],
		...optionsOf(command).filter((o) => options.get(o.name))
			.flatMap((o) => wordsOf(o, options.get(o.name)))];
};

/* As a shell would have to read it. */
const quoted = (word) => /^[\w./+=:,@%-]+$/.test(word) ? word
	: "'" + word.replaceAll("'", "'\\''") + "'";

const commandText = (args) => ['profan', ...args].map(quoted).join(' ');

const copyButton = (text, title) => {
	const b = make('button', { type: 'button' }, title);
	b.addEventListener('click', async () => {
		try {
			await navigator.clipboard.writeText(text());
			b.textContent = 'Copied';
		} catch {
			b.textContent = 'The browser does not let it';
		}
		setTimeout(() => { b.textContent = title; }, 1500);
	});
	return b;
};

const saveAs = (blob, name) => {
	const url = URL.createObjectURL(blob);
	make('a', { href: url, download: name }).click();
	setTimeout(() => URL.revokeObjectURL(url), 60000);
};

/* The words of a command as a shell reads them (quoted() above). */
const wordsIn = (text) => (text.match(/(?:'[^']*'|\\'|[^\s'\\])+/g) || [])
	.map((w) => w.replace(/'([^']*)'|\\(')/g, '$1$2'));

/* The address that asks what a command asks; null: no view does. */
const addressOf = ([, command, db, ...rest]) => {
	const view = VIEWS.find((v) => v.commands.includes(command));
	if (!view || command === 'query' || db !== shown?.db)
		return null;
	const to = { view: view.id, of: command, from: '', to: '' };
	while (rest.length) {
		const name = rest.shift().replace(/^--/, '');
		const option = optionsOf(command).find((o) => o.name === name);
		if (!option)
			return null;
		const value = option.type === 'flag' ? '1' : rest.shift();
		to[name] = to[name] ? to[name] + SEVERAL + value : value;
	}
	return hrefOf(to);
};

/* A command that writes a file: it is saved. */
const saveButton = (words) => {
	const path = words[words.indexOf('-o') + 1];
	const b = make('button', { type: 'button' }, 'Save ' + path);
	b.addEventListener('click', async () => {
		try {
			saveAs((await runWell(words.slice(1), { takes: path }))
				.taken, path);
		} catch (e) {
			complain(e);
		}
	});
	return b;
};

/* A command for a terminal, and what of it can be done here. */
const commandLine = (text) => {
	const words = wordsIn(text), address = addressOf(words);
	const b = copyButton(() => text, 'Copy');
	b.setAttribute('aria-label', 'Copy the command');
	const line = make('p', { className: 'command' },
		make('code', {}, ...text.split(/( +)/).map((word) =>
			word[0] === ' ' ? word : make('span', {}, word))), b);
	if (words[1] === 'slice' && words.includes('-o'))
		line.append(saveButton(words));
	if (address && address !== hrefOf({}))
		line.append(make('a', { href: address }, 'Ask it here'));
	return line;
};

/* ---- controls ---- */

const controlOf = (option, command, value,
	changed = (v) => go({ [option.name]: v })) => {
	const { name, type, help } = option;
	if (type === 'flag') {
		const box = make('input', { type: 'checkbox', name,
			checked: Boolean(value) });
		box.addEventListener('change', () =>
			changed(box.checked ? '1' : ''));
		return make('label', { title: help }, box,
			name.replaceAll('-', ' '));
	}
	const words = type === 'choice' ? option.choices : name === 'sort'
		? command.sorts : [];
	const field = type === 'choice' ? make('select', { name },
		...option.default ? [] : [make('option', { value: '' }, '-')],
		...words.map((w) => make('option', { value: w }, w)))
		: make('input', { name, size: 10, placeholder: type === 'list'
			? option.value + SEVERAL + ' ...' : option.value,
			inputMode: type === 'integer' ? 'numeric' : 'text' });
	field.value = value || (type === 'choice' ? option.default || '' : '');
	const label = make('label', { title: help },
		name.replaceAll('-', ' '), field);
	if (type !== 'choice' && words.length) {
		const id = 'words-' + name;
		field.setAttribute('list', id);
		label.append(make('datalist', { id }, ...words.map((w) =>
			make('option', { value: w }))));
	}
	if (type === 'list')
		field.size = 28;
	field.addEventListener('change', () => changed(field.value.trim()));
	return label;
};

const controls = ({ command, options }) => {
	const known = commands.get(command), all = optionsOf(command);
	const isDrawn = command === 'timeline'; /* not listed */
	const row = (list) => list.map((o) =>
		controlOf(o, known, options.get(o.name)));
	const own = row(all.filter((o) => !WINDOW.includes(o.name) && !isDrawn));
	const ofWindow = all.filter((o) => WINDOW.includes(o.name));
	const form = make('form', { className: 'controls' });
	form.addEventListener('submit', (e) => e.preventDefault());
	const missing = WINDOW.filter((w) => options.get(w) &&
		!all.some((o) => o.name === w));
	if (missing.length)
		form.append(make('p', { className: 'error' }, 'This command ' +
			'cannot be asked of a part by ' +
			missing.join(' and ') + ': its figures are of more.'));
	if (own.length)
		form.append(make('div', { className: 'tools' }, ...own));
	if (ofWindow.length) {
		const set = ofWindow.filter((o) => options.get(o.name));
		const title = 'Part of the capture' + (set.length ? ': ' +
			set.map((o) => o.type === 'flag' ? o.name : o.name +
				' ' + options.get(o.name)).join(', ') : '');
		const all = make('button', { type: 'button' }, 'All of it');
		all.addEventListener('click', () =>
			go(Object.fromEntries(WINDOW.map((w) => [w, '']))));
		form.append(make('details', { open: set.length > 0 },
			make('summary', {}, title),
			make('div', { className: 'tools' }, ...row(ofWindow),
				...set.length ? [all] : [])));
	}
	return form;
};

/* ---- showing ---- */

const SHOWN_MAX = 40; /* answers that are kept */
const answers = new Map();

/* What a command prints as JSON; asked once. */
const answerOf = async (args, isWanted) => {
	const known = commands.get(args[0]);
	const hasLimit = known.options.some((o) => o.name === 'limit') &&
		!args.includes('--limit');
	const words = [...args, ...hasLimit ? ['--limit', String(ROWS)] : [],
		'--format', 'json'];
	const key = words.join('\0');
	if (!answers.has(key)) {
		answers.set(key, await runWell(words, { isWanted }));
		if (answers.size > SHOWN_MAX)
			answers.delete(answers.keys().next().value);
	}
	return answers.get(key);
};

const csvOf = (args) => {
	const hasTable = commands.get(args[0]).options
		.some((o) => o.name === 'table');
	return async (table) => {
		const words = [...args, '--format', 'csv',
			...hasTable ? ['--table', table] : []];
		const { out } = await runWell(words, { isText: false });
		saveAs(out, args[0] + '-' + table + '.csv');
	};
};

const showReport = async (args, isWanted) => {
	const path = 'report.html';
	const { taken } = await runWell([...args, '-o', path],
		{ takes: path, isWanted });
	const page = new Blob([taken], { type: 'text/html' });
	const save = make('button', { type: 'button' }, 'Save the report');
	save.addEventListener('click', () => saveAs(page,
		shown.db.replace(/\.db$/, '.html')));
	const frame = make('iframe', { title: 'Report',
		src: URL.createObjectURL(page) });
	frame.addEventListener('load', () => URL.revokeObjectURL(frame.src));
	return [make('div', { className: 'tools' }, save), frame];
};

const showAnswer = async (args, isWanted) => {
	const { out, code, err } = await answerOf(args, isWanted);
	const nodes = [showDocument(out, commands.get(args[0]), csvOf(args))];
	if (code || err)
		nodes.unshift(make('p', { className: 'said' }, err.trim()));
	return nodes;
};

/* Of what takes long to answer: who says the first of it sooner. */
const SOONER = { summary: 'steps' };

const saySooner = async (now, isWanted, answer) => {
	const isBusy = () => isWanted() &&
		answer.getAttribute('aria-busy') === 'true';
	try {
		const { out } = await answerOf(argsOf({ ...now,
			command: SOONER[now.command] }), isBusy);
		const { finding } = JSON.parse(out).scalars;
		if (finding && isBusy())
			answer.append(make('p', { className: 'finding' },
				...glued(finding + '.')), make('p', {
				className: 'lead' }, 'Causes are being worked out.'));
	} catch {
		/* what is wrong is said by who was asked */
	}
};

/* The statement of the view SQL. */
const sqlForm = ({ options }) => {
	const field = make('textarea', { name: 'sql', rows: 6,
		spellcheck: false, 'aria-label': 'SQL statement',
		value: options.get('sql') || SQL });
	const run = make('button', { type: 'button' }, 'Run (Ctrl+Enter)');
	const ask = () => go({ sql: field.value });
	run.addEventListener('click', ask);
	field.addEventListener('keydown', (e) => {
		if (e.key === 'Enter' && (e.ctrlKey || e.metaKey))
			ask();
	});
	return make('div', { className: 'sql' }, field,
		make('div', { className: 'tools' }, run));
};

/* Which of the captures is compared. */
const otherForm = () => {
	const list = captures.filter((c) => c !== shown);
	if (!list.length)
		return make('p', { className: 'lead' }, 'Drop or choose the ' +
			'capture that ' + shown.db + ' is compared with.');
	const field = make('select', {}, make('option', { value: '' }, '-'),
		...list.map((c) => make('option', { value: c.db }, c.db)));
	field.value = other?.db || '';
	field.addEventListener('change', () => {
		other = captures.find((c) => c.db === field.value) || null;
		onCaptures();
	});
	return make('div', { className: 'tools' }, make('label', {},
		shown.db + ' (A) compared with B:', field));
};

let turn = 0;

/* Show what the address asks for. */
const render = async () => {
	const now = state(), { view, command } = now, mine = ++turn;
	const isWanted = () => mine === turn;
	const main = $('main'), known = commands.get(command);
	delete main.dataset.at;
	document.title = (shown ? view.title + ', ' + shown.db + ' - ' : '') +
		'profan';
	showBar(view);
	if (!shown || !known) {
		main.replaceChildren();
		return;
	}
	const args = argsOf(now);
	const answer = make('div', { id: 'answer', 'aria-busy': true });
	const head = [make('h2', {}, view.title)];
	if (view.commands.length > 1)
		head.push(make('nav', { className: 'sub',
			'aria-label': view.title }, ...view.commands.map((c) =>
			make('a', { href: hrefOf({ view: view.id, of: c }),
				...c === command && { 'aria-current': 'true' } },
			c))));
	main.replaceChildren(...head, make('p', { className: 'lead' },
		capital(known.summary) + '.'),
	...command === 'diff' ? [otherForm()] : [],
	...command === 'query' ? [sqlForm(now)] : [], controls(now),
	...args ? [commandLine(commandText(args))] : [], answer);
	if (command === 'timeline') {
		answer.before(timelineOf(now).node);
		chart.show(now.options);
		if (document.activeElement === document.body)
			chart.line.canvas.focus(
				{ preventScroll: true });
	}
	let nodes = [];
	if (args && command in SOONER)
		saySooner(now, isWanted, answer);
	try {
		if (args)
			nodes = command === 'timeline'
				? await showRange(now, isWanted, answer)
				: await ({ report: showReport, stacks: showStacks }[
					command] || showAnswer)(args, isWanted);
	} catch (e) {
		nodes = [make('p', { className: 'error', role: 'alert' },
			sentenceOf(e))];
	}
	if (isWanted()) {
		answer.replaceChildren(...nodes);
		answer.setAttribute('aria-busy', 'false');
		$('told').textContent = view.title + ' is shown';
		main.dataset.at = location.hash; /* for tests: it stands there */
	}
};
