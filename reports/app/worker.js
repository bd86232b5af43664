/*
 * The worker: the program's files and its commands, one at a time.  It has
 * nothing that the page has not: it may be ended at any moment, and another
 * one takes its place.
 *
 *	{ start: module, files: [[path, blob]...] }
 *	{ keep: path, blob }, { drop: path }
 *	{ id, run: args, files, takes, isText, stays }
 *		-> { read }, { counts }... { id, code, out, err, taken } or { id, error }
 *
 * "files" are there while the command runs, in the place of kept ones of the
 * same name; "takes" is a file that it makes, which is handed over; "stays": see
 * host.js.
 */
const kept = new Map();
const reached = new Map(); /* how far each input has been read */
let host = null;
let told = 0;

const EACH_MS = 100; /* progress */
const HELD_MAX = 256 << 20;
const TEXT_MAX = 128 << 20; /* more is no table that anybody reads */
const WRITE_MAX = 1 << 20; /* of the program, at once */

/* A database is read here and there, which is slow of a Blob on a disk. */
const held = (blob) => {
	if (blob.size > HELD_MAX)
		return blob;
	const all = bytesOf(blob);
	return { size: blob.size, read(to, at) {
		const part = all.subarray(at, at + to.length);
		to.set(part);
		return part.length;
	} };
};

const answers = {
	start: ({ start, files }) => {
		host = makeHost(start, (at, path) => {
			const now = performance.now();
			reached.set(path, at);
			if (now - told < EACH_MS)
				return;
			told = now;
			postMessage({ read: [...reached.values()]
				.reduce((sum, n) => sum + n, 0) });
		});
		for (const [path, blob] of files)
			answers.keep({ keep: path, blob });
	},
	keep: ({ keep, blob }) => {
		kept.set(keep, held(blob));
		host.addFile(keep, kept.get(keep));
	},
	drop: ({ drop }) => {
		kept.delete(drop);
		host.remove(drop);
	},
	run: async ({ run, files, takes, isText, stays }) => {
		reached.clear();
		for (const [path, blob] of files)
			host.addFile(path, blob);
		try {
			const { code, out, err } = await host.run(run, {},
				isText ? TEXT_MAX : Infinity, { stays,
					onCounts: run.includes('--counts') &&
						((counts) => postMessage({ counts })) });
			if (code && isText && out.length > TEXT_MAX - WRITE_MAX)
				throw new Error('more than ' + (TEXT_MAX >> 20) +
					' MiB of text');
			const made = takes && code < 2 && host.read(takes);
			return { code, err,
				out: isText ? out : new Blob([out]),
				taken: made || null };
		} finally {
			for (const path of [...files.map(([p]) => p), takes])
				if (kept.has(path))
					host.addFile(path, kept.get(path));
				else if (path)
					host.remove(path);
		}
	},
};

const answer = async (data) => {
	const what = Object.keys(answers).find((k) => k in data);
	let said;
	try {
		said = await answers[what](data);
	} catch (e) {
		said = { error: e?.name + ': ' + e?.message };
	}
	if (said) /* bytes are handed over, too */
		postMessage({ id: data.id, ...said },
			said.out?.buffer ? [said.out.buffer] : []);
};

/* In their order, though a command may wait for its input. */
let last = Promise.resolve();
onmessage = ({ data }) => {
	last = last.then(() => answer(data));
};
