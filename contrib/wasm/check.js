/* SPDX-License-Identifier: MIT */
/*
 * usage: node check.js PROFAN FOLDER INPUT...
 * Every command on each input, by PROFAN and by profan.wasm of FOLDER: what
 * they print and write and how they end must be the same to the byte.  Of
 * inputs up to 10 KB each gets a third of the commands, the next one another
 * third, unless LONG is set.  Prints TAP, a line for each input.
 */
'use strict';
const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

const [program, folder, ...inputs] = process.argv.slice(2);
/* In one scope, as they are in the page's worker. */
const glue = path.join(folder, 'profan.js');
const { makeHost, Sliced, Made } = new Function('require', '__dirname',
	'__filename', [glue, path.join(__dirname, 'host.js')]
		.map((file) => fs.readFileSync(file, 'utf8')).join('\n') +
	'\nreturn { makeHost, Sliced, Made };')(require, folder, glue);

const words = (line) => {
	const [name, ...rest] = line.split(' ').map((s) => s.replace(/\t/g, ' '));
	return name === 'help' ? [name, ...rest] : [name, 'x.db', ...rest];
};
const COMMANDS = [
	'summary', 'table', 'table --format csv', 'table --group-by-input-shape',
	'steps', 'kernels --format csv', 'kernels --graphs',
	'roofline --format json', 'graphs', 'modules', 'ranges', 'launches',
	'calls --by op', 'overlap', 'ranks', 'gaps --per-stream',
	'gaps --format json', 'path --list --format csv',
	'path --what-if launch=0', 'advise --format json', 'syncs', 'counters',
	'timeline --pixels 200 --format json',
	'timeline --tracks idle --format json',
	'timeline --tracks path --format json', 'memory --format json',
	'doctor', 'info', 'stacks', 'stacks --weight cpu',
	'report -o out', 'report --format md', 'slice -o out',
	'export --rows -o out', 'diff x.db --format json', 'help gaps --format json',
	'query SELECT\tname,\tcount(*),\tsum(dur_ns)\tFROM\tevent\tGROUP\tBY\t' +
		'name\tORDER\tBY\t2\tDESC,\t1\tLIMIT\t50',
].map(words);
/* By one instance, one after the other. */
const STAYING = [
	'timeline --column 65536ns --format json',
	'timeline --column 1024ns --from 1048576ns --to 3145728ns --format json',
	'timeline --tracks gpu --format json',
].map(words);
const ENV = { COLUMNS: '100', LANG: 'C', LC_ALL: 'C' };

const onDisk = (file) => {
	const fd = fs.openSync(file);
	return new Sliced(fs.fstatSync(fd).size, (from, to) => {
		const bytes = new Uint8Array(to - from);
		fs.readSync(fd, bytes, 0, bytes.length, from);
		return bytes;
	});
};

/* Of two texts what they are from where they differ. */
const differ = (got, want) => {
	const [a, b] = [got, want].map((text) => text.toString());
	let at = 0;
	while (at < a.length && a[at] === b[at])
		at++;
	at = Math.max(0, at - 40);
	return [a, b].map((s) => JSON.stringify(s.slice(at, at + 120)))
		.join(', not ');
};

/* What differs, or null. */
const compare = async (host, cwd, args, stays) => {
	const makes = args.includes('-o') ? args[args.indexOf('-o') + 1] : null;
	if (makes)
		fs.rmSync(path.join(cwd, makes), { force: true });
	const native = spawnSync(program, args, {
		cwd, maxBuffer: 1 << 30,
		env: { ...ENV, HOME: cwd, TMPDIR: os.tmpdir() },
	});
	const wasm = await host.run(args, ENV, undefined, { stays });
	if (native.status !== wasm.code)
		return 'ends with ' + wasm.code + ', not ' + native.status + ': ' +
			differ(wasm.err, native.stderr);
	if (!native.stdout.equals(Buffer.from(wasm.out)))
		return 'prints something else: ' +
			differ(Buffer.from(wasm.out), native.stdout);
	if (native.stderr.toString() !== wasm.err)
		return 'warns of something else: ' +
			differ(wasm.err, native.stderr);
	if (!makes || makes === '-')
		return null;
	const made = path.join(cwd, makes), got = host.read(makes);
	if (fs.existsSync(made) !== (got !== null))
		return 'does ' + (got ? '' : 'not ') + 'write ' + makes;
	if (!got)
		return null;
	const bytes = Buffer.from(await got.arrayBuffer());
	if (makes !== 'x.db')
		host.remove(makes);
	return fs.readFileSync(made).equals(bytes) ? null : makes + ' differs';
};

const checkInput = async (module, input, number) => {
	const cwd = fs.mkdtempSync(path.join(os.tmpdir(), 'wasm-'));
	const name = path.basename(input), host = makeHost(module);
	const odd = [];
	let count = 0;
	fs.symlinkSync(path.resolve(input), path.join(cwd, name));
	host.addFile(name, onDisk(input));
	const isWhole = process.env.LONG || fs.statSync(input).size > 10000;
	const some = [...COMMANDS, ...STAYING].filter((_, i) =>
		isWhole || (i + number) % 3 === 0);
	for (const args of [['ingest', name, '-o', 'x.db'], ...some]) {
		const why = await compare(host, cwd, args, STAYING.includes(args));
		count++;
		if (why)
			odd.push('# ' + args.join(' ') + ': ' + why);
		if (!fs.existsSync(path.join(cwd, 'x.db')))
			break; /* it is refused, by both */
	}
	fs.rmSync(cwd, { recursive: true });
	console.log((odd.length ? 'not ok ' : 'ok ') + number + ' - ' + name +
		': ' + count + ' outputs are those of the program');
	odd.forEach((line) => console.log(line));
};

/* Offsets beyond 32 bits, which the input of a temporary file may have. */
const checkFar = async (number) => {
	const far = new Made(), at = 5 * 2 ** 30 + 7, got = new Uint8Array(3);
	far.write(new Uint8Array([1, 2, 3]), at);
	const isRead = far.size === at + 3 && far.read(got, at) === 3 &&
		got.join() === '1,2,3' && far.read(got, 7) === 3 &&
		got.join() === '0,0,0';
	far.truncate(at + 1);
	console.log((isRead && far.read(got, at) === 1 ? 'ok ' : 'not ok ') +
		number + ' - files over 4 GiB');
};

(async () => {
	const module = await WebAssembly.compile(
		fs.readFileSync(path.join(folder, 'profan.wasm')));
	let number = 0;
	for (const input of inputs)
		await checkInput(module, input, ++number);
	await checkFar(++number);
	console.log('1..' + number);
})();
