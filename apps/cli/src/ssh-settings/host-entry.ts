/** An option of OpenSSH's client and its value. */
export type SshOption = readonly [name: string, value: string];

const START = /^\s*(?:host|match)(?:\s|=)/i;

/**
 * Sets the entry `Host NAME` in a configuration of OpenSSH's client and preserves everything else. A new entry comes
 * before the others, because the first value of an option counts, and after the options for all hosts.
 */
export function setHostEntry(text: string, name: string, options: readonly SshOption[]): string {
  const lines = text === '' ? [] : text.replace(/\n$/, '').split('\n');
  const rendered = [`Host ${name}`, ...options.map(([option, value]) => `  ${option} ${renderValue(value)}`)];
  const [start, endExclusive] = findEntry(lines, name);
  if (start === -1) {
    const at = findFirstEntry(lines);
    const [before, after] = [lines.slice(0, at), lines.slice(at)];
    const gap = before.length === 0 || before.at(-1)?.trim() === '' ? [] : [''];
    return joined([...before, ...gap, ...rendered, ...(after.length === 0 ? [] : ['', ...after])]);
  }
  return joined([...lines.slice(0, start), ...rendered, ...lines.slice(endExclusive)]);
}

/** Sets the key of a host in the format of `known_hosts`. */
export function setKnownHost(text: string, host: string, publicKey: string): string {
  const others = text.split('\n').filter((line) => line !== '' && line.split(' ', 1)[0] !== host);
  return joined([...others, `${host} ${publicKey}`]);
}

/** Hosts with a port other than 22 are in brackets. */
export function knownHostName(host: string, port: number): string {
  return port === 22 ? host : `[${host}]:${port}`;
}

/** The lines of an entry, without the blank lines and comments before the next one. */
function findEntry(lines: readonly string[], name: string): [start: number, endExclusive: number] {
  const start = lines.findIndex((line) => START.test(line) && line.trim().replace(/^host\s+/i, '') === name);
  if (start === -1) return [-1, -1];
  const next = lines.findIndex((line, at) => at > start && START.test(line));
  let end = next === -1 ? lines.length : next;
  while (end > start + 1 && /^\s*(?:#|$)/.test(lines[end - 1] ?? '')) end -= 1;
  return [start, end];
}

/** The first entry, or the comment directly above it. */
function findFirstEntry(lines: readonly string[]): number {
  let at = lines.findIndex((line) => START.test(line));
  if (at === -1) return lines.length;
  while (at > 0 && /^\s*#/.test(lines[at - 1] ?? '')) at -= 1;
  return at;
}

function renderValue(value: string): string {
  return /\s/.test(value) ? `"${value}"` : value;
}

function joined(lines: readonly string[]): string {
  return `${lines.join('\n')}\n`;
}
