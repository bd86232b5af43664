/*
 * Captures: what was dropped or chosen, read into one database each.  Of the
 * input nothing is kept; the database is a Blob that the page holds, so that
 * it outlives the worker and can be saved.
 */

const captures = [];
let shown = null, other = null; /* B of a comparison */

/* Called when the captures are others. */
let onCaptures = () => {};

/* ---- what was dropped ---- */

/*
 * [path, File] of what is below a folder.  Chromium has handles, and does not
 * let a page from a disk read entries; other browsers have entries only.
 */
const belowHandle = async (handle, path) => {
	if (handle.kind === 'file')
		return [[path, await handle.getFile()]];
	const found = [];
	for await (const h of handle.values())
		found.push(...await belowHandle(h, path + '/' + h.name));
	return found;
};

const belowEntry = async (entry, path) => {
	const ask = (o, name) => new Promise((resolve, reject) =>
		o[name](resolve, reject));
	if (entry.isFile)
		return [[path, await ask(entry, 'file')]];
	const found = [], reader = entry.createReader();
	for (;;) { /* it gives some at a time */
		const some = await ask(reader, 'readEntries');
		if (!some.length)
			return found;
		for (const e of some)
			found.push(...await belowEntry(e, path + '/' + e.name));
	}
};

/* The same of all that was dropped; items are gone when the event is over. */
const dropped = async (transfer) => {
	const lists = await Promise.all([...transfer.items]
		.filter((i) => i.kind === 'file').map((item) => {
			const entry = item.webkitGetAsEntry();
			if (!entry?.isDirectory) {
				const file = item.getAsFile();
				return [[file.name, file]];
			}
			return item.getAsFileSystemHandle
				? item.getAsFileSystemHandle().then((h) =>
					belowHandle(h, h.name))
				: belowEntry(entry, entry.name);
		}));
	return lists.flat().sort(([a], [b]) => compare(a, b));
};

const chosen = (input) => [...input.files].map((f) =>
	[f.webkitRelativePath || f.name, f]);

/* ---- reading ---- */

const reading = new Map(); /* what is asked of the next: options of ingest */

/* No option of a command, and no path out of the program's folder. */
const safePath = (path) => path.startsWith('-') ? './' + path : path;

const ENDINGS =
	/(?<=.)(\.(json|gz|zst|pb|xplane|pickle|sqlite|db|csv|pfr))+$/i;

/* Names of databases, of those that are being made, too. */
const names = new Set();

const databaseName = (path) => {
	const stem = path.replace(ENDINGS, '');
	let name = stem + '.db';
	for (let n = 2; names.has(name); n++)
		name = stem + '-' + n + '.db';
	names.add(name);
	return name;
};

/* Without a blob: it is to come, and commands wait for it. */
const add = (capture, blob) => {
	if (blob)
		program.keep(capture.db, blob);
	captures.push({ ...capture, blob });
	if (shown && state().view.id === 'diff')
		other = captures.at(-1);
	else
		shown = captures.at(-1);
	onCaptures();
};

/* A database of profan's own: SQLite, and no trace of another program. */
const isDatabase = async (path, file) => {
	const head = new TextDecoder('latin1').decode(
		await file.slice(0, 72).arrayBuffer());
	const files = [[path, file]];
	if (!head.startsWith('SQLite format 3'))
		return false;
	if (head.slice(68) === 'pfN\x01') { /* application_id; is it sound? */
		await runWell(['query', path, 'SELECT 1'], { files });
		return true;
	}
	const { out } = await runWell(['ingest', '--dry-run', path, '--format',
		'json'], { files });
	if (JSON.parse(out).tables.files.length)
		return false;
	await runWell(['info', path], { files });
	return true;
};

/* Read what was handed over; an error is a sentence. */
const readIn = async (files) => {
	const traces = [];
	for (const [at, file] of files) {
		const path = safePath(at), isAlone = !at.includes('/');
		if (isAlone && await isDatabase(path, file))
			add({ db: databaseName(path), made: null, said: '' },
				file);
		else
			traces.push([path, file]);
	}
	if (!traces.length)
		return;
	const roots = [...new Set(traces.map(([p]) =>
		p.replace(/^((?:\.\/)?[^/]+)\/.*$/, '$1')))];
	const db = databaseName(roots[0]);
	const args = ['ingest', ...roots, '-o', db, ...optionsOf('ingest')
		.filter((o) => reading.get(o.name))
		.flatMap((o) => wordsOf(o, reading.get(o.name)))];
	try {
		const [command, ...rest] = args;
		const r = await runWell([command, '--counts', ...rest],
			{ files: traces, takes: db });
		add({ db, made: args, said: r.err.trim() }, r.taken);
	} catch (e) {
		names.delete(db);
		throw e;
	}
};

const forget = (capture) => {
	captures.splice(captures.indexOf(capture), 1);
	program.drop(capture.db);
	names.delete(capture.db);
	answers.clear(); /* another may get its name */
	if (other === capture)
		other = null;
	if (shown === capture)
		shown = captures.at(-1) || null;
	onCaptures();
};
