import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { waitFor } from '@svc/testing';

const UNIFIED = '/sys/fs/cgroup';
const CONTROLLERS: ReadonlySet<string> = new Set(['memory', 'pids', 'cpu', 'cpuacct', 'freezer']);
const SLOTS = '/run/svc/slots';

export interface GroundOptions {
  /** Folder of the campaign; it is kept. */
  readonly folder: string;
  readonly argv: readonly string[];
  readonly onLine: (line: string) => void;
  readonly onComplaint?: (text: string) => void;
  /** Asks the program to finish, by closing its standard input. */
  readonly stop: AbortSignal;
}

/**
 * Runs a program in new namespaces (processes, network and mounts), with a separate control group in place of the
 * machine's. The program sees only its own resources, and whatever it fails to clean up ends with it. Returns its
 * exit code.
 */
export async function runOnOwnGround(options: GroundOptions): Promise<number | null> {
  const groups = makeGroups(basename(options.folder));
  const binds = groups.map(({ own, point }) => `mount --bind ${own} ${point}`);
  // The namespace's first process adopts orphans, like a machine's init; the program is its child.
  const run = '"$@" <&3 3<&- & wait $! || code=$?';
  // A frozen process does not receive the kill when its namespace ends, and the namespace would wait for it.
  const thaw =
    'for each in /sys/fs/cgroup/freezer/svc-sandboxes/*/freezer.state; do echo THAWED >"$each" || true; done';
  const steps = [...binds, 'ip link set lo up', 'exec 3<&0', 'code=0', run, `{ ${thaw}; } 2>/dev/null`, 'exit $code'];
  const script = steps.join('\n');
  const namespaces = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];
  const child = spawn('unshare', [...namespaces, 'sh', '-ec', script, 'sh', ...options.argv], {
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true, // so that Ctrl-C does not end it before it has cleaned up
  });
  const end = (): void => void child.stdin.end();
  options.stop.addEventListener('abort', end, { once: true });
  try {
    child.stdin.on('error', () => undefined); // it has already ended
    child.stderr.setEncoding('utf8').on('data', (text: string) => options.onComplaint?.(text));
    let rest = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) options.onLine(line);
    });
    if (options.stop.aborted) end();
    await once(child, 'close');
    return child.exitCode;
  } finally {
    options.stop.removeEventListener('abort', end);
    for (const { own } of groups) await removeTree(own);
  }
}

/** Removes what a failed program left outside its namespaces; returns what it removed. */
export function clearTraces(runFolder: string): string[] {
  const traces: string[] = [];
  for (const slot of namesIn(SLOTS)) {
    if (!textOf(join(SLOTS, slot)).startsWith(`${runFolder}/`)) continue;
    traces.push(`slot ${slot}`);
    rmSync(join(SLOTS, slot), { force: true });
  }
  if (namesIn(runFolder).length > 0) traces.push(`run folder ${runFolder}`);
  rmSync(runFolder, { recursive: true, force: true });
  return traces;
}

interface Group {
  /** Where the machine mounts the hierarchy. */
  readonly point: string;
  /** The folder mounted over it. */
  readonly own: string;
}

function makeGroups(name: string): Group[] {
  const groups = controllerMounts().map((point) => ({ point, own: join(point, name) }));
  for (const { point, own } of groups) {
    if (point === UNIFIED) writeFileSync(join(point, 'cgroup.subtree_control'), '+cpu +memory +pids');
    mkdirSync(own, { recursive: true });
  }
  return groups;
}

/** Mount points of the hierarchies with sandbox groups: v1 and hybrid, else v2. */
export function controllerMounts(): string[] {
  const points = new Set<string>();
  for (const line of readFileSync('/proc/self/mountinfo', 'utf8').split('\n')) {
    const [before = '', after = ''] = line.split(' - ');
    const point = before.split(' ')[4] ?? '';
    const [type, , options = ''] = after.split(' ');
    if (type === 'cgroup' && options.split(',').some((option) => CONTROLLERS.has(option))) points.add(point);
    if (type === 'cgroup2' && point === UNIFIED) points.add(point);
  }
  return [...points];
}

async function removeTree(folder: string): Promise<void> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await removeTree(join(folder, entry.name));
  }
  // The kernel releases ended processes with a delay.
  await waitFor(
    () => {
      rmdirSync(folder);
      return true;
    },
    { description: `the control group ${folder} to be empty` },
  );
}

export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // never created, or removed meanwhile
  }
}

export function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return ''; // as above
  }
}
