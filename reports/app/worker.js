/*
 * The worker: the program's files and its commands, one at a time.  It is
 * stateless but for its files, which the page has too: it may be ended at any
 * moment, and another one takes its place.
 *
 *	{ id, start: module, files: [[path, blob]...] }	-> { id }
 *	{ id, run: args, files, takes }
 *		-> { read, size }... { id, code, out, err, taken }
 *
 * "files" are there while the command runs, "takes" is a file that it makes,
 * which is handed over and not kept.
 */
let host = null;
let told = 0;

const EACH_MS = 100; /* progress */

const answers = {
	start: async ({ start, files }) => {
		host = makeHost(start, (read) => {
			const now = performance.now();
			if (now - told < EACH_MS)
				return;
			told = now;
			postMessage({ read });
		});
		for (const [path, blob] of files)
			host.addFile(path, blob);
		return {};
	},
	keep: async ({ keep, blob }) => {
		host.addFile(keep, blob);
		return {};
	},
	drop: async ({ drop }) => {
		host.remove(drop);
		return {};
	},
	run: async ({ run, files, takes, isText }) => {
		for (const [path, blob] of files)
			host.addFile(path, blob);
		try {
			const { code, out, err } = await host.run(run);
			const made = takes && code < 2 ? host.read(takes) : null;
			return { code, err, out: isText
				? new TextDecoder().decode(out) : new Blob([out]),
				taken: made && new Blob([made]) };
		} finally {
			for (const [path] of files)
				host.remove(path);
			if (takes)
				host.remove(takes);
		}
	},
};

onmessage = async ({ data }) => {
	const what = Object.keys(answers).find((k) => k in data);
	try {
		postMessage({ id: data.id, ...await answers[what](data) });
	} catch (e) {
		postMessage({ id: data.id, error: String(e?.message || e) });
	}
};
