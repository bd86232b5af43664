/* The page around the views: files in, what runs, the bar and the keys. */

document.documentElement.classList.add('js');

/* ---- errors ---- */

/* What went wrong, as one sentence of the program's or of ours. */
const sentenceOf = (e) => {
	const text = String(e?.message || e);
	if (e instanceof Stopped)
		return 'Stopped.';
	if (text.startsWith('profan: '))
		return text;
	if (text.includes('MiB of text'))
		return 'That is ' + text.replace('Error: ', '') +
			': ask for fewer rows.';
	if (text.includes('NotReadableError'))
		return 'A file cannot be read any more: it was changed, ' +
			'moved or removed since it was handed over.';
	if (/memory|allocation/i.test(text))
		return 'This needs more memory than a page can have. ' +
			'profan in a terminal has no such limit.';
	return 'The program broke off (' + text.split('\n')[0] + '). ' +
		'Nothing else is touched.';
};

const complain = (e) => {
	$('said').replaceChildren(make('p', { className: 'error' },
		sentenceOf(e)));
};

/* ---- files in ---- */

const take = async (files) => {
	$('said').replaceChildren();
	try {
		const list = await files;
		if (await begun) /* they may come before the program is there */
			await readIn(list);
	} catch (e) {
		complain(e);
	}
};

for (const input of document.querySelectorAll('input[type=file]'))
	input.addEventListener('change', () => {
		take(chosen(input));
		input.value = ''; /* the same file may come again */
	});

const isFiles = (e) => [...e.dataTransfer?.types || []].includes('Files');
let inside = 0;
const dragged = (way) => (e) => {
	if (!isFiles(e))
		return;
	e.preventDefault();
	inside = Math.max(inside + way, 0);
	document.body.classList.toggle('over', inside > 0);
};
addEventListener('dragenter', dragged(1));
addEventListener('dragleave', dragged(-1));
addEventListener('dragover', (e) => isFiles(e) && e.preventDefault());
addEventListener('drop', (e) => {
	dragged(-inside)(e);
	if (isFiles(e))
		take(dropped(e.dataTransfer));
});

/* ---- the captures that there are ---- */

onCaptures = () => {
	document.body.classList.toggle('empty', !shown);
	const list = $('capture');
	list.replaceChildren(...captures.map((c) =>
		make('option', { value: c.db }, c.db)));
	list.value = shown?.db || '';
	$('save').disabled = !shown?.blob;
	$('made').replaceChildren(...shown?.made
		? [commandLine(commandText(shown.made))] : [],
	...shown?.said ? [make('pre', { className: 'said' }, shown.said)] : []);
	render();
};
$('capture').addEventListener('change', () => {
	shown = captures.find((c) => c.db === $('capture').value);
	if (other === shown)
		other = null;
	onCaptures();
});
$('save').addEventListener('click', () => saveAs(shown.blob, shown.db));
$('close').addEventListener('click', () => forget(shown));

/* ---- what runs ---- */

const MB = 1e6, SURE_MS = 2000; /* of reading, before a rest is guessed */

const restOf = (job) => {
	const ms = performance.now() - job.begun;
	return ms < SURE_MS || !job.read ? '' : ', ' + Math.ceil(ms / 1000 *
		(job.size - job.read) / job.read) + ' s left';
};

/* What was read so far, as the program says it. */
const countsOf = (counts) => Object.entries(counts).filter(
	([, n]) => n > 0).map(([what, n]) => count(n) + ' ' +
	what.replaceAll('_', ' ').replace('gpu', 'GPU').replace('python',
		'Python')).join(', ');

const WORK = [
	{ name: 'name', title: 'Name', kind: 'text' },
	{ name: 'calls', title: 'Calls', kind: 'count', isRight: true },
	{ name: 'total_ns', title: 'Time', kind: 'ns', isRight: true },
];
const workOf = (rows = []) => rows.length ? [make('div', { className: 't' },
	tableOf('so-far', 'GPU work so far', rows, WORK))] : [];

let ticking = 0;
program.watch((job) => {
	clearTimeout(ticking);
	if (!job) {
		$('running').hidden = true;
		return;
	}
	const tell = () => {
		const progress = $('progress'), waiting = program.waiting();
		$('running').hidden = false;
		if (job.size && job.read) {
			const read = Math.min(job.read, job.size);
			progress.max = job.size;
			progress.value = read;
			$('rest').textContent = count(Math.floor(read / MB)) +
				' of ' + count(Math.ceil(job.size / MB)) +
				' MB read' + restOf({ ...job, read });
		} else {
			progress.removeAttribute('value');
			$('rest').textContent = '';
		}
		const { counts = {} } = job;
		$('counts').textContent = countsOf(counts);
		$('work').replaceChildren(...workOf(counts.gpu_work));
		$('what').textContent = commandText(job.args.filter((w) =>
			w !== '--counts').slice(0, 4)) +
			(waiting ? ' (' + waiting + ' more wait)' : '');
	};
	if (job.read)
		tell();
	else
		ticking = setTimeout(tell, 200);
});
$('stop').addEventListener('click', () => program.stop());

/* ---- the bar of views: one stop of Tab, arrows within ---- */

for (const v of VIEWS)
	$('views').append(make('li', {}, make('a', {}, v.title)));

const showBar = (view) => {
	[...$('views').querySelectorAll('a')].forEach((link, i) => {
		const isHere = VIEWS[i] === view;
		link.href = hrefOf({ view: VIEWS[i].id });
		link.tabIndex = isHere ? 0 : -1;
		link.removeAttribute('aria-current');
		if (isHere) {
			link.setAttribute('aria-current', 'page');
			/* not now: the page would be laid out twice */
			requestAnimationFrame(() => link.scrollIntoView({
				block: 'nearest', inline: 'nearest' }));
		}
	});
};

/* Asked again where it stands: what was stopped, for one. */
$('views').addEventListener('click', (e) => {
	if (e.target.hash === location.hash)
		render();
});

const MOVES = {
	__proto__: null,
	ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1,
	Home: -Infinity, End: Infinity,
};
$('views').addEventListener('keydown', (e) => {
	const links = [...$('views').querySelectorAll('a')];
	const at = links.indexOf(e.target), move = MOVES[e.key];
	if (at < 0 || !move)
		return;
	e.preventDefault();
	const to = links[Math.max(0, Math.min(links.length - 1, at + move))];
	for (const link of links)
		link.tabIndex = link === to ? 0 : -1;
	to.focus();
});

const beside = (way) => {
	const at = VIEWS.indexOf(state().view) + way;
	if (VIEWS[at])
		go({ view: VIEWS[at].id });
};

/* ---- keys ---- */

const KEYS = [
	['o', 'choose files', () => $('files').click()],
	['/', 'filter the first table', () =>
		document.querySelector('#answer input[type=search]')?.focus()],
	['[', 'the view before', () => beside(-1)],
	[']', 'the next view', () => beside(1)],
	['v', 'go to the bar of views; arrows move in it, Enter opens', () =>
		$('views').querySelector('[tabindex="0"]').focus()],
	['s', 'save the database', () => shown && $('save').click()],
	['.', 'stop what runs', () => program.stop()],
	['?', 'these keys', () => $('keys').showModal()],
];
$('keylist').append(...KEYS.map(([key, what]) => make('div', {},
	make('dt', {}, make('kbd', {}, key)), make('dd', {}, what))));
$('keylist').after(make('p', { className: 'note' }, 'In the timeline: ' +
	TIMELINE_KEYS + TRACK_KEYS));
$('help').addEventListener('click', () => $('keys').showModal());
addEventListener('keydown', (e) => {
	if (e.ctrlKey || e.metaKey || e.altKey || $('keys').open ||
	    e.target.closest?.('input, textarea, select'))
		return;
	const found = KEYS.find(([key]) => key === e.key);
	if (found) {
		e.preventDefault();
		found[2]();
	}
});

/* ---- begin ---- */

/* The database that the page holds: it is unpacked when all of it is there. */
const showInside = (db) => {
	names.add(db);
	add({ db, made: null, said: '' });
};

const unpack = async (name) => {
	ticking = setTimeout(() => {
		$('running').hidden = false;
		$('stop').hidden = true;
		$('what').textContent = 'unpacking ' + name;
	}, 200);
	try {
		return await inflate('database').blob();
	} finally {
		clearTimeout(ticking);
		$('running').hidden = true;
		$('stop').hidden = false;
	}
};

/* Is there the program?  A database of profan view stands behind this script. */
const begin = async () => {
	document.body.classList.add('empty');
	$('reading').append(...optionsOf('ingest').map((o) => controlOf(o,
		commands.get('ingest'), '', (v) => reading.set(o.name, v))));
	addEventListener('hashchange', render);
	render();
	const early = $('answers'); /* of profan view, as is the database */
	if (early) {
		program.know(await inflate('answers').json());
		showInside(early.dataset.name);
	}
	if (document.readyState === 'loading')
		await new Promise((r) =>
			addEventListener('DOMContentLoaded', r));
	const inside = $('database');
	try {
		if (inside) {
			const { name } = inside.dataset;
			if (!early)
				showInside(name);
			const blob = await unpack(name);
			inside.textContent = ''; /* once is enough */
			const capture = captures.find((c) => c.db === name);
			if (capture) { /* it may be closed by now */
				capture.blob = blob;
				program.keep(name, blob);
				$('save').disabled = false;
			}
		}
		await program.start();
	} catch (e) {
		complain(e);
		document.documentElement.dataset.ready = 'err';
		return false;
	}
	document.documentElement.dataset.ready = '1';
	return true;
};

const begun = begin();
