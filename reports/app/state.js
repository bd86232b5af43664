/*
 * What is asked, in the fragment of the address: the view, its command and the
 * command's options under their own names.  A link into a page asks the same.
 */

/* Options that say which part of a capture is meant: every view keeps them. */
const WINDOW = ['from', 'to', 'step', 'steps', 'skip-first', 'whole-capture',
	'rank', 'trace', 'cycle', 'device'];

const state = () => {
	const options = new Map(new URLSearchParams(location.hash.slice(1)));
	const view = VIEWS.find((v) => v.id === options.get('view')) ||
		VIEWS[0];
	const command = view.commands.find((c) => c === options.get('of')) ||
		view.commands[0];
	options.delete('view');
	options.delete('of');
	return { view, command, options };
};

/* The address with some options changed; '' and null take one out. */
const hrefOf = (changes) => {
	const now = state(), to = new URLSearchParams();
	to.set('view', changes.view || now.view.id);
	const isSame = !changes.view && !changes.of;
	const of = changes.of || (isSame ? now.command : '');
	if (of && VIEWS.find((v) => v.id === to.get('view')).commands[0] !== of)
		to.set('of', of);
	const all = { ...Object.fromEntries([...now.options].filter(([k]) =>
		isSame || WINDOW.includes(k))), ...changes };
	for (const [k, v] of Object.entries(all))
		if (k !== 'view' && k !== 'of' && v !== '' && v !== null)
			to.set(k, v);
	return '#' + to;
};

const go = (changes) => { location.hash = hrefOf(changes); };
