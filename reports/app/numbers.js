/* Numbers as the terminal shows them (src/base/num.c, src/show/render.c). */

const FURTHER = 60; /* digits behind the last one shown: enough to see a tie */

/* Of two numbers as near the even one, as in C: near is the larger. */
const toEven = (near, exact) => {
	const cut = exact.slice(0, -FURTHER).replace(/\.$/, '');
	return /^50*$/.test(exact.slice(-FURTHER)) && /[02468]$/.test(cut)
		? cut : near;
};

const fixed = (x, digits) => /* x >= 0 */
	toEven(x.toFixed(digits), x.toFixed(digits + FURTHER));

/* A comma between each three of the digits that a number begins with. */
const group = (text) => text.replace(/^-?\d+/, count);

/* As steps of "by": no unit shows as many as the next has. */
const inUnits = (n, by, names, digits) => {
	let value = Math.abs(Number(n)) / by, i = 1;
	if (value < 1)
		return n + ' ' + names[0];
	for (; value >= by - 10 ** -digits / 2 && i + 1 < names.length; i++)
		value /= by;
	return group((n < 0 ? '-' : '') + fixed(value, digits)) + ' ' + names[i];
};

const showNs = (n) => inUnits(n, 1000, ['ns', 'us', 'ms', 's'], 3);

const showBytes = (n) => inUnits(n, 1024,
	['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'], 2);

/* Four digits, and no zeros behind them. */
const showReal = (x) => {
	const sign = x < 0 ? '-' : '', a = Math.abs(x);
	if (a >= 9999.5 && a < 1e15)
		return group(sign + fixed(a, 0));
	const [near, e] = a.toExponential(3).split('e');
	const [exact, power] = a.toExponential(3 + FURTHER).split('e');
	const m = Number(e === power ? toEven(near, exact) : near);
	if (e < -4 || e >= 4)
		return sign + m + 'e' + e[0] + e.slice(1).padStart(2, '0');
	return group(sign + Number(m + 'e' + e));
};

/* All digits that there are. */
const showExact = (x) => {
	const [m, e] = x.toExponential().split('e');
	const digits = m.replace(/\D/g, '').length;
	if (e < -4 || e >= Math.max(digits, 15))
		return m + 'e' + e[0] + e.slice(1).padStart(2, '0');
	return String(x);
};

/* Nothing and all are said of nothing and all only. */
const showRatio = (x) => {
	const percent = 100 * x;
	if (Math.abs(x) > 1e15)
		return showReal(x);
	if (percent > 0 && percent < 0.005)
		return '<0.01 %';
	if (percent < 0 && percent > -0.005)
		return '> -0.01 %';
	if (percent > 99.995 && percent < 100)
		return '>99.99 %';
	return group((percent < 0 ? '-' : '') + fixed(Math.abs(percent), 2)) + ' %';
};

/* Documents do not tell 1e6 from 1000000, which is right of both. */
const showInt = (n) => typeof n === 'bigint' || Number.isSafeInteger(n)
	? String(n) : showReal(n);

const SHOW = {
	__proto__: null, ns: showNs, bytes: showBytes, ratio: showRatio,
	count: (n) => count(showInt(n)),
	integer: showInt, real: (n) => group(showInt(n)),
	any: (n) => typeof n === 'bigint' ? String(n) : showExact(n),
};

/* A cell of a kind; null is nothing. */
const show = (value, kind) => value === null || value === undefined ? ''
	: typeof value === 'string' ? value : (SHOW[kind] || showInt)(value);
