/*
 * The program: a worker with the module, which runs one command at a time.
 * Files that stay are kept here as well, so that a worker that was stopped, or
 * died, is replaced by one that has them.
 */

class Stopped extends Error {}

const program = (() => {
	const kept = new Map(), queue = [];
	const known = new Map(); /* answers that the page came with */
	let module, url, worker, current = null, last = 0, tell = () => {};

	const settle = (way, value) => {
		const job = current;
		current = null;
		tell(null);
		job?.[way](value);
		next();
	};

	/* What it took of memory to read traces goes back with the worker. */
	const done = (data) => {
		if (current.message.isText)
			data.out = new TextDecoder().decode(data.out);
		if (current.message.takes)
			launch();
		settle('resolve', data);
	};

	const launch = () => {
		worker?.terminate();
		worker = new Worker(url);
		worker.onerror = (e) => {
			if (!current)
				return;
			launch();
			settle('reject', new Error(e.message));
		};
		worker.onmessage = ({ data }) => {
			if (data.read !== undefined || data.counts) {
				if (current?.size) /* else of a database */
					tell(Object.assign(current, data));
			} else if (data.error !== undefined)
				settle('reject', new Error(data.error));
			else if (data.id === current?.id)
				done(data);
		};
		worker.postMessage({ start: module, files: [...kept] });
	};
	const keyOf = (args) => args.join('\0');

	const next = () => {
		if (current || !queue.length || !worker)
			return;
		current = queue.shift();
		if (current.isWanted && !current.isWanted()) {
			settle('reject', new Stopped('not wanted any more'));
			return;
		}
		current.begun = performance.now();
		tell(current);
		worker.postMessage({ ...current.message, id: current.id });
	};

	/* The script stands before the body: it is compiled while that is read. */
	const compiled = (async () => WebAssembly.compileStreaming(
		new Response(inflate('wasm').body, { headers: {
			'Content-Type': 'application/wasm' } })))();
	compiled.catch(() => {}); /* who starts it is told */
	$('wasm').remove(); /* once is enough */

	return {
		/* Commands wait until this is done. */
		async start() {
			module = await compiled;
			url = URL.createObjectURL(new Blob(
				[$('worker').textContent],
				{ type: 'text/javascript' }));
			launch();
			next();
		},
		know(answers) {
			for (const { args, out } of answers)
				known.set(keyOf(args), out);
		},
		/* f(job) when something changes; null: nothing runs. */
		watch(f) { tell = f; },
		/*
		 * Run a command.  { files, takes, isText, stays }: see
		 * worker.js; isWanted() is asked when its turn comes.
		 */
		run(args, { files = [], takes, isText = true, stays,
			isWanted } = {}) {
			if (known.has(keyOf(args)))
				return Promise.resolve({ code: 0, err: '',
					out: known.get(keyOf(args)) });
			const size = files.reduce((n, [, f]) => n + f.size, 0);
			const message = { run: args, files, takes, isText, stays };
			return new Promise((resolve, reject) => {
				queue.push({ id: ++last, args, message, size,
					isWanted, resolve, reject });
				next();
			});
		},
		waiting: () => queue.length,
		/* A file that is there from now on. */
		keep(path, blob) {
			kept.set(path, blob);
			worker?.postMessage({ keep: path, blob });
		},
		drop(path) {
			kept.delete(path);
			known.clear(); /* another may get its name */
			worker?.postMessage({ drop: path });
		},
		/* End what runs. */
		stop() {
			if (!current)
				return;
			launch();
			settle('reject', new Stopped('stopped'));
		},
	};
})();

/* Run a command that must not fail; its error is one sentence. */
const runWell = async (args, options) => {
	const r = await program.run(args, options);
	if (r.code > 1 || (options?.takes && !r.taken))
		throw new Error(r.err.trim() || 'exit code ' + r.code);
	return r;
};
