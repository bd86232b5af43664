/* SPDX-License-Identifier: MIT */
/*
 * What profan.wasm runs on, in a worker of a page and in node: files, and one
 * instance of the module for each command, as an operating system would have
 * it: a command that fails, or takes all memory, takes nothing with it.
 *
 * Files are objects with size and read(to, at), those that profan makes with
 * write(from, at) and truncate(size), too; folders are Maps of them by name.
 * No input is held but for a few slices of it.
 */
const PIECE = 1 << 20; /* of what is made */
const SLICE = 3 << 20, SLICES = 4; /* of an input: so many of it are held */
const AHEAD = 2; /* slices that come while those before them are read */
const FIRST = 4096; /* a small file takes little */
const HOT = 48; /* pieces of a file in memory */

/* Calls each(piece, offset in it, count, done) for the parts of a range. */
const eachPart = (at, count, unit, each) => {
	for (let done = 0; done < count;) {
		const n = Math.floor((at + done) / unit);
		const off = at + done - n * unit;
		const part = Math.min(count - done, unit - off);
		each(n, off, part, done);
		done += part;
	}
};

const bytesOf = (blob) => new Uint8Array(
	new FileReaderSync().readAsArrayBuffer(blob));

/*
 * A file that profan makes: pieces, so that it grows without being copied.  In
 * a worker the few that were used last are in memory, and the others are Blobs,
 * which a browser may keep on its disk; node reads no Blob at once, and keeps
 * all.
 */
class Made {
	constructor() {
		this.hot = new Map(); /* the one that was used last is the last */
		this.cold = []; /* those that are not hot, or hot and the same */
		this.size = 0;
	}

	piece(n) {
		const bytes = this.hot.get(n) ||
			this.cold[n] && bytesOf(this.cold[n]);
		if (bytes)
			this.keep(n, bytes);
		return bytes;
	}

	keep(n, bytes) {
		this.hot.delete(n);
		this.hot.set(n, bytes);
		if (this.hot.size <= HOT || typeof FileReaderSync === 'undefined')
			return;
		const [old, held] = this.hot.entries().next().value;
		this.hot.delete(old);
		this.cold[old] ||= new Blob([held]);
	}

	read(to, at) {
		const count = Math.max(0, Math.min(to.length, this.size - at));
		eachPart(at, count, PIECE, (n, off, part, done) => {
			const have = this.piece(n)?.subarray(off, off + part) || [];
			to.set(have, done); /* what was never written is zero */
			to.fill(0, done + have.length, done + part);
		});
		return count;
	}

	write(from, at) {
		eachPart(at, from.length, PIECE, (n, off, part, done) => {
			let bytes = this.piece(n);
			if (!bytes || bytes.length < off + part) {
				let room = bytes ? bytes.length : FIRST;
				while (room < off + part)
					room *= 4;
				const larger = new Uint8Array(Math.min(room, PIECE));
				larger.set(bytes || []);
				this.keep(n, bytes = larger);
			}
			delete this.cold[n];
			bytes.set(from.subarray(done, done + part), off);
		});
		this.size = Math.max(this.size, at + from.length);
		return from.length;
	}

	truncate(size) {
		const last = Math.floor(size / PIECE);
		if (size < this.size) {
			for (const n of this.hot.keys())
				if (n > last)
					this.hot.delete(n);
			this.cold.length = Math.min(this.cold.length, last + 1);
			this.piece(last)?.fill(0, size - last * PIECE);
			delete this.cold[last];
		}
		this.size = size;
	}

	/* The whole in parts, as Blob takes them. */
	parts() {
		const parts = [];
		eachPart(0, this.size, PIECE, (n, off, part) => {
			const hot = this.hot.get(n)?.subarray(0, part);
			const had = hot || this.cold[n]?.slice(0, part);
			const length = hot ? hot.length : had?.size || 0;
			if (had)
				parts.push(had);
			if (length < part)
				parts.push(new Uint8Array(part - length));
		});
		return parts;
	}

	bytes() {
		const all = new Uint8Array(this.size);
		this.read(all, 0);
		return all;
	}
}

/*
 * An input: load(from, to) gives its bytes, later(from, to), if there is one, a
 * promise of them.  The last slices are held.
 */
class Sliced {
	constructor(size, load, later, onRead) {
		Object.assign(this, { size, load, later, onRead });
		this.held = new Map(); /* the one that was used last is the last */
		this.coming = new Map();
	}

	hold(n, bytes) {
		this.held.delete(n);
		this.held.set(n, bytes);
		if (this.held.size > SLICES)
			this.held.delete(this.held.keys().next().value);
		return bytes;
	}

	get(how, n) {
		return this[how](n * SLICE, Math.min(this.size, (n + 1) * SLICE));
	}

	slice(n) {
		return this.hold(n, this.held.get(n) || this.get('load', n));
	}

	/* A promise that a slice is held, or null if it is. */
	ask(n) {
		if (this.held.has(n) || n * SLICE >= this.size)
			return null;
		if (!this.coming.has(n)) {
			const come = this.get('later', n).then((bytes) => {
				this.coming.delete(n);
				this.hold(n, bytes);
			});
			come.catch(() => {}); /* who waits for it is told */
			this.coming.set(n, come);
		}
		return this.coming.get(n);
	}

	/*
	 * A promise that what is read next is held, or null if it is.  Who reads
	 * on from slice to slice is asked to wait for few of them.
	 */
	ready(count, at) {
		if (!this.later || !count)
			return null;
		const first = Math.floor(at / SLICE);
		const last = Math.floor((at + count - 1) / SLICE);
		const waits = [];
		for (let n = first; n <= last; n++)
			waits.push(this.ask(n));
		for (let n = 1; n <= AHEAD && this.held.has(first - 1); n++)
			this.ask(last + n);
		return waits.some((wait) => wait) ? Promise.all(waits) : null;
	}

	read(to, at) {
		const count = Math.max(0, Math.min(to.length, this.size - at));
		eachPart(at, count, SLICE, (n, off, part, done) =>
			to.set(this.slice(n).subarray(off, off + part), done));
		this.onRead?.(at + count);
		return count;
	}
}

/* A Blob of a page; FileReaderSync is there in workers only. */
const sliceBlob = (blob, onRead) => new Sliced(blob.size,
	(from, to) => bytesOf(blob.slice(from, to)),
	async (from, to) => new Uint8Array(
		await blob.slice(from, to).arrayBuffer()), onRead);

/* ---- emscripten's file system over folders ---- */

const IS_FOLDER = 0o040000, IS_FILE = 0o100000;
const ENOENT = 44, EPERM = 63, EINVAL = 28, EBADF = 8, ENOTEMPTY = 55;
const ENOSPC = 51;
/* as WASI numbers them */

const fileSystem = (FS, root) => {
	const time = new Date(0);
	const fail = (number) => {
		throw new FS.ErrnoError(number);
	};
	const node = (parent, name, what) => {
		const isFolder = what instanceof Map;
		const made = FS.createNode(parent, name,
			isFolder ? IS_FOLDER | 0o777 : IS_FILE | 0o666, 0);
		return Object.assign(made, { what, node_ops, stream_ops });
	};
	const node_ops = {
		getattr: ({ id, mode, what }) => ({
			dev: 1, ino: id, mode, nlink: 1, uid: 0, gid: 0, rdev: 0,
			size: what instanceof Map ? 0 : what.size, blksize: 4096,
			blocks: Math.ceil((what.size || 0) / 512),
			atime: time, mtime: time, ctime: time,
		}),
		setattr(it, { mode, size }) {
			if (mode !== undefined)
				it.mode = mode;
			if (size === undefined)
				return;
			if (!it.what.truncate)
				fail(EPERM);
			it.what.truncate(size);
		},
		lookup: (parent, name) => parent.what.has(name)
			? node(parent, name, parent.what.get(name)) : fail(ENOENT),
		mknod(parent, name, mode) {
			const what = FS.isDir(mode) ? new Map() : new Made();
			parent.what.set(name, what);
			return node(parent, name, what);
		},
		rename(it, folder, name) {
			it.parent.what.delete(it.name);
			folder.what.set(name, it.what);
			it.name = name;
			it.parent = folder;
		},
		unlink: (parent, name) => {
			parent.what.delete(name);
		},
		rmdir(parent, name) {
			if (parent.what.get(name).size)
				fail(ENOTEMPTY);
			parent.what.delete(name);
		},
		readdir: ({ what }) => ['.', '..', ...what.keys()],
		symlink: () => fail(EPERM),
		readlink: () => fail(EINVAL),
	};
	const stream_ops = {
		read: ({ node: { what } }, memory, to, count, at) =>
			what.read(new Uint8Array(memory.buffer, to, count), at),
		write({ node: { what } }, memory, from, count, at) {
			if (!what.write)
				fail(EPERM);
			if (at + count > what.most)
				fail(ENOSPC);
			return what.write(new Uint8Array(memory.buffer, from, count),
				at);
		},
		llseek({ node: { what }, position }, offset, whence) {
			const at = offset + [0, position, what.size][whence];
			return at < 0 ? fail(EINVAL) : at;
		},
		allocate() {},
	};
	return { mount: () => node(null, '/', root) };
};

/*
 * emscripten's own take the low 32 bits of an offset (seen in 3.1.6): wrong
 * from 2 GiB on, and silently so from 4 GiB on.
 */
const positioned = (io, getFS, getMemory) =>
	(fd, vectors, count, offset, result) => {
		const FS = getFS(), { buffer } = getMemory();
		const view = new DataView(buffer), stream = FS.getStream(fd);
		let at = Number(offset), all = 0;
		if (!stream)
			return EBADF;
		try {
			for (let i = 0; i < count; i++) {
				const to = view.getUint32(vectors + 8 * i, true);
				const len = view.getUint32(vectors + 8 * i + 4, true);
				const n = FS[io](stream, new Int8Array(buffer), to, len,
					at);
				all += n;
				at += n;
				if (n < len)
					break;
			}
		} catch (e) {
			if (!e.errno)
				throw e;
			return e.errno;
		}
		view.setUint32(result, all, true);
		return 0;
	};

/*
 * Where wasm can wait for a promise (WebAssembly.Suspending), the next slices of
 * an input come while it works, and it waits for what is not there yet; else each
 * is read when its turn comes.
 */
const canWait = 'Suspending' in WebAssembly;

const waiting = (read, getFS, getMemory) => new WebAssembly.Suspending(
	(fd, vectors, ...rest) => {
		const { node, position } = getFS().getStream(fd) || {};
		const count = new DataView(getMemory().buffer)
			.getUint32(vectors + 4, true); /* of the first */
		const go = () => read(fd, vectors, ...rest);
		const wait = node?.what?.ready?.(count, position);
		return wait ? wait.then(go) : go();
	});

/* ---- commands ---- */

const HOME = '/data'; /* where all files are, and where commands run */

/*
 * An instance of the module.  What it returns runs a command: { code, out,
 * err, bytes }, out as Made and err as a text, without the lines that say what
 * was read so far (profan ingest --counts): onCounts() gets them; bytes: its
 * memory.  One that stays runs several, and databases stay open between them.
 */
const startProgram = async (module, root, env, stays) => {
	let FS, memory, main, exit, err = new Made();
	const program = await profanModule({
		noExitRuntime: stays,
		instantiateWasm(imports, done) {
			for (const set of Object.values(imports))
				for (const io of ['read', 'write'])
					if (set['fd_p' + io])
						set['fd_p' + io] = positioned(io, () => FS,
							() => memory);
			const wasi = imports.wasi_snapshot_preview1;
			if (canWait)
				wasi.fd_read = waiting(wasi.fd_read, () => FS,
					() => memory);
			({ exit } = imports.env);
			WebAssembly.instantiate(module, imports).then((instance) => {
				({ memory, main } = instance.exports);
				if (canWait)
					main = WebAssembly.promising(main);
				done(instance, module);
			});
			return {};
		},
		preRun: [({ ENV }) => Object.assign(ENV,
			{ HOME, TMPDIR: HOME, LANG: 'C' }, env)],
		quit(_, e) {
			throw e;
		},
		printErr: (text) => err.write(new TextEncoder().encode(text +
			'\n'), err.size),
	});
	({ FS } = program);
	FS.mkdir(HOME);
	FS.mount(fileSystem(FS, root), {}, HOME);
	FS.chdir(HOME);
	const nodes = [1, 2].map((fd) => {
		FS.close(FS.getStream(fd));
		const name = '.' + fd; /* for as long as it takes to open it */
		root.set(name, new Made());
		const got = FS.open(HOME + '/' + name, 1 | 1024); /* append */
		root.delete(name);
		if (got.fd !== fd)
			throw new Error('descriptor ' + got.fd);
		return got.node;
	});
	/* main() of it: emscripten's own way to call it waits for nothing. */
	const start = async (args) => {
		const texts = args.map((text) => {
			const bytes = new TextEncoder().encode(text + '\0');
			const at = program.stackAlloc(bytes.length);
			new Uint8Array(memory.buffer).set(bytes, at);
			return at;
		});
		const argv = program.stackAlloc(4 * texts.length + 4);
		const view = new DataView(memory.buffer);
		[...texts, 0].forEach((at, i) =>
			view.setUint32(argv + 4 * i, at, true));
		exit(await main(texts.length, argv));
	};
	return async (args, most, onCounts) => {
		const out = Object.assign(new Made(), { most });
		const top = program.stackSave();
		let code = 0;
		err = new Made();
		err.write = (from, at) => {
			if (!onCounts || from[0] !== 0x7b) /* { */
				return Made.prototype.write.call(err, from, at);
			onCounts(JSON.parse(new TextDecoder().decode(
				from.slice())));
			return from.length;
		};
		[nodes[0].what, nodes[1].what] = [out, err];
		try {
			await start(['profan', ...stays ? ['--stay'] : [],
				...args]);
		} catch (e) {
			if (e?.name !== 'ExitStatus')
				throw e; /* a trap, or no memory */
			code = e.status;
		}
		program.stackRestore(top);
		return { code, out, err: new TextDecoder().decode(err.bytes()),
			bytes: memory.buffer.byteLength };
	};
};

/* The folder of a path that must be there, or is made, and the last name. */
const walk = (root, path, isMade) => {
	const names = path.split('/').filter((s) => s && s !== '.');
	const name = names.pop();
	let folder = root;
	for (const s of names) {
		if (isMade && !folder.has(s))
			folder.set(s, new Map());
		folder = folder.get(s);
		if (!(folder instanceof Map))
			return [null, name];
	}
	return [folder, name];
};

/*
 * Files and commands.  addFile takes a Blob or something with size and
 * read(to, at); onRead(position, path) is called as inputs that are Blobs are
 * read.  A command that prints more than "most" bytes has no space left.  One
 * that "stays" is run where the last such was, as long as all went well there
 * and files are the same.
 */
const STAYS_MAX = 128 << 20; /* of memory, which never gets less */

const makeHost = (module, onRead) => {
	const root = new Map();
	let held = null;
	return {
		addFile(path, file) {
			const [folder, name] = walk(root, path, true);
			if (!folder)
				throw new Error(path + ': a file stands where its folder is');
			held = null;
			folder.set(name, file.read ? file : sliceBlob(file,
				(at) => onRead?.(at, path)));
		},
		/* A Blob of what profan made, or null. */
		read(path) {
			const [folder, name] = walk(root, path, false);
			const file = folder?.get(name);
			return file instanceof Made ? new Blob(file.parts()) : null;
		},
		remove(path) {
			const [folder, name] = walk(root, path, false);
			held = null;
			folder?.delete(name);
		},
		async run(args, env, most, { onCounts, stays } = {}) {
			const run = stays && held ||
				await startProgram(module, root, env, stays);
			if (stays)
				held = null;
			const { code, out, err, bytes } = await run(args, most,
				onCounts);
			if (stays && !code && bytes <= STAYS_MAX)
				held = run;
			return { code, err, out: out.bytes() };
		},
	};
};
