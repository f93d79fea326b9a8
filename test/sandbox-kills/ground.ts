import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { waitFor } from '@svc/testing';

const UNIFIED = '/sys/fs/cgroup';
const CONTROLLERS: ReadonlySet<string> = new Set(['memory', 'pids', 'cpu', 'cpuacct', 'freezer']);
const SLOTS = '/run/svc/slots';

export interface GroundOptions {
  /** Of the campaign; it stays. */
  readonly folder: string;
  readonly argv: readonly string[];
  readonly onLine: (line: string) => void;
  readonly onComplaint?: (text: string) => void;
  /** Asks the program to come to its end, by the end of its standard input. */
  readonly stop: AbortSignal;
}

/**
 * Runs a program in namespaces of its own: processes, network and mounts, with a control group of its own in the place of
 * the machine's. So all that it finds there is its own, whatever else runs on the machine, and what it fails to clean up
 * ends with it. Answers its exit code.
 */
export async function runOnOwnGround(options: GroundOptions): Promise<number | null> {
  const groups = makeGroups(basename(options.folder));
  const binds = groups.map(({ own, point }) => `mount --bind ${own} ${point}`);
  // The first process of the namespace takes in the orphans, as that of a machine does; its own child is the program.
  const run = '"$@" <&3 3<&- & wait $! || code=$?';
  // A process that stands still does not hear that its namespace ends, and the namespace would wait for it.
  const thaw =
    'for each in /sys/fs/cgroup/freezer/svc-sandboxes/*/freezer.state; do echo THAWED >"$each" || true; done';
  const steps = [...binds, 'ip link set lo up', 'exec 3<&0', 'code=0', run, `{ ${thaw}; } 2>/dev/null`, 'exit $code'];
  const script = steps.join('\n');
  const namespaces = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];
  const child = spawn('unshare', [...namespaces, 'sh', '-ec', script, 'sh', ...options.argv], {
    stdio: ['pipe', 'pipe', 'pipe'],
    detached: true, // an interrupt from a terminal must not end it before it has cleaned up
  });
  const end = (): void => void child.stdin.end();
  options.stop.addEventListener('abort', end, { once: true });
  try {
    child.stdin.on('error', () => undefined); // it has ended already
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

/** Takes away what a program that failed left outside of its namespaces; answers what that was. */
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
  /** The folder that is put in its place. */
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

/** Mount points of the hierarchies that sandboxes have groups in: v1 and hybrid, else v2. */
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
  // The kernel lets go of processes a moment after they ended.
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
    return []; // never made, or gone meanwhile
  }
}

export function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return ''; // as above
  }
}
