import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { dirname, join } from 'node:path';
import { readRecords, type Api, type Records, type SandboxRecord } from './api.ts';
import { strayFiles } from './audit-files.ts';
import { strayImages } from './audit-images.ts';
import { missingUploads, readLayers, unsettledBuilds } from './audit-templates.ts';
import { namesIn, textOf } from './ground.ts';
import type { Journal } from './journal.ts';
import { surely } from './client.ts';
import { writtenFiles, wrongContent } from './file-operations.ts';
import { DEFAULT_RESOURCES } from './lifecycle-operations.ts';
import {
  attachedFiles,
  controlGroups,
  firewallTables,
  groupFile,
  halfTransfers,
  isFrozen,
  launchersIn,
  links,
  mountsNaming,
  namespaceDescriptors,
  processes,
  slots,
  type ProcessFacts,
} from './machine.ts';

/** Time for the platform to settle; anything still wrong afterwards is a finding. */
const REST_LIMIT_MS = 60_000;
/** The platform limits scrapes of its metrics to five a second. */
const LOOK_EVERY_MS = 250;

export interface Audited {
  readonly api: Api;
  readonly journal: Journal;
  /** Pid of the running platform. */
  readonly platformPid: number;
  readonly dataFolder: string;
  readonly runFolder: string;
}

/**
 * Reports what is wrong once no requests are pending and the platform has had time to settle: compares records with the
 * machine, then both with the answers clients received, then file contents.
 */
export async function audit(audited: Audited): Promise<string[]> {
  const deadline = performance.now() + REST_LIMIT_MS;
  for (;;) {
    const { isAtRest, findings } = await look(audited);
    if (isAtRest || performance.now() > deadline) return [...audited.journal.findings.splice(0), ...findings];
    await delay(LOOK_EVERY_MS);
  }
}

/** At rest, records and machine agree; only then are they compared with what the clients know. */
export async function look(audited: Audited): Promise<{ isAtRest: boolean; findings: string[] }> {
  const { api, journal } = audited;
  const records = await readRecords(api);
  const findings = compare(audited, records);
  if (findings.length > 0) return { isAtRest: false, findings };
  const lies = journal.judge(records);
  return { isAtRest: true, findings: [...lies, ...(await contents(audited))] };
}

/** Checks files of running sandboxes; paused ones are skipped, because reading would resume them. */
async function contents({ api, journal }: Audited): Promise<string[]> {
  const findings: string[] = [];
  for (const sandbox of journal.sandboxes) {
    if (surely(sandbox) !== 'running') continue;
    for (const path of writtenFiles(sandbox)) {
      const wrong = await wrongContent({ api, journal }, sandbox, path);
      if (wrong !== null) findings.push(wrong);
    }
  }
  return findings;
}

/** Compares the current records with the machine. */
function compare(audited: Audited, records: Records): string[] {
  const { sandboxes, snapshots, volumes, waiting, prepared } = records;
  const { runFolder, dataFolder, journal } = audited;
  const layers = readLayers(dataFolder);
  const all = processes();
  const recorded = new Map(sandboxes.map((record) => [record.id, record]));
  const here = namesIn(join(runFolder, 'sandboxes'));
  // Prepared starts: their disks belong to no sandbox.
  const halves = new Set(here.filter((id) => stateOf(runFolder, id).prepared_disk !== undefined));
  const unrecorded = here.filter((id) => !recorded.has(id) && !halves.has(id));
  const running = new Set([
    ...sandboxes.filter(({ status }) => status === 'running').map(({ id }) => id),
    ...unrecorded,
    ...halves,
  ]);
  const kept = new Set([...sandboxes.map(({ id }) => id), ...unrecorded]);
  return [
    ...sandboxes.filter(({ status }) => status === 'creating').map(({ id }) => `${id} is still being made`),
    ...(unrecorded.length === waiting
      ? []
      : [`${waiting} sandboxes wait for somebody, and these have no record: ${unrecorded.join(', ')}`]),
    ...(halves.size === prepared
      ? []
      : [`${prepared} starts are prepared, and these are there: ${[...halves].join(', ')}`]),
    ...[...running].flatMap((id) => runs(id, recorded.get(id), runFolder, all)),
    ...halfTransfers(firstProcesses(running, halves, runFolder, all)),
    ...strayProcesses(audited, all, running, halves.size),
    ...strayGroups(running),
    ...differences('run folder', here, running),
    ...differences('slot', [...slots(runFolder).values()], running),
    ...differences('attached disk', attachedFiles(dataFolder), [
      ...[...running].map((id) => (halves.has(id) ? preparedDiskOf(dataFolder, id) : diskOf(dataFolder, id))),
      ...volumes
        .filter(({ name }) =>
          sandboxes.some((each) => running.has(each.id) && each.volumes.some((on) => on.name === name)),
        )
        .map(({ id }) => join(dataFolder, 'sandboxes', 'volumes', id, 'volume.img')),
    ]),
    ...strayLinks(audited, running, recorded),
    ...strayMounts(audited, all, halves),
    ...strayImages(dataFolder),
    ...unsettledBuilds(dataFolder, records, layers),
    ...missingUploads(dataFolder, journal.uploads),
    ...strayFiles(audited, {
      sandboxes: kept,
      snapshots: new Set([...snapshots.map(({ id }) => id), ...awaited(sandboxes, dataFolder)]),
      volumes: new Set(volumes.map(({ id }) => id)),
      halves,
      layers: new Set(layers.map(({ id }) => id)),
      uploads: new Set(journal.uploads.keys()),
    }),
  ];
}

interface LauncherState {
  readonly pid: number;
  readonly prepared_disk?: string;
}

/** The launcher's state of a sandbox; pid 0 if there is none. */
function stateOf(runFolder: string, id: string): LauncherState {
  const text = textOf(join(runFolder, 'sandboxes', id, 'state.json'));
  return text === '' ? { pid: 0 } : (JSON.parse(text) as LauncherState); // written by the launcher
}

function preparedDiskOf(dataFolder: string, id: string): string {
  return join(dataFolder, 'sandboxes', 'prepared', `${id}.img`);
}

function diskOf(dataFolder: string, id: string): string {
  return join(dataFolder, 'sandboxes', 'disks', id, 'disk.img');
}

/** Removed snapshots whose files a sandbox still needs. */
function awaited(sandboxes: readonly SandboxRecord[], dataFolder: string): string[] {
  const hasFiles = (id: string): boolean => existsSync(join(dirname(diskOf(dataFolder, id)), 'sandbox.json'));
  const waiting = sandboxes.filter(({ id, started_at: startedAt }) => startedAt === null && !hasFiles(id));
  return waiting.flatMap(({ snapshot_id: snapshotId }) => snapshotId ?? []);
}

/** Compares two multisets in both directions. */
function differences(what: string, found: readonly string[], expected: Iterable<string>): string[] {
  const left = [...found];
  const missing: string[] = [];
  for (const each of expected) {
    const index = left.indexOf(each);
    if (index < 0) missing.push(`${what} ${each} is missing`);
    else left.splice(index, 1);
  }
  return [...missing, ...left.map((each) => `${what} ${each} is left over`)];
}

/** Checks that a sandbox runs as its record says; a warm one has the default limits. */
function runs(
  id: string,
  record: SandboxRecord | undefined,
  runFolder: string,
  all: readonly ProcessFacts[],
): string[] {
  const findings: string[] = [];
  const { pid } = stateOf(runFolder, id);
  const first = all.find((each) => each.pid === pid);
  if (first?.sandboxId !== id) return [`${id} is said to run, and has no first process`];
  const shouldStandStill = record !== undefined && record.paused_at !== null;
  if (isFrozen(id) !== shouldStandStill) findings.push(`${id} ${shouldStandStill ? 'moves' : 'stands still'}`);
  const { cpu, memory_mb: memory, pids } = record?.resources ?? DEFAULT_RESOURCES;
  const [quota = '', period = '100000'] = groupFile(id, 'cpu.max', 'cpu.cfs_quota_us').split(' ');
  for (const [what, is, wanted] of [
    ['memory', groupFile(id, 'memory.max', 'memory.limit_in_bytes'), String(memory * 1024 * 1024)],
    ['pids', groupFile(id, 'pids.max'), String(pids)],
    ['cpu', String(Number(quota) / Number(period)), String(cpu)],
  ] as const) {
    if (is !== wanted) findings.push(`${id} has the limit ${is} of ${what}, expected ${wanted}`);
  }
  const host = textOf(`/proc/${pid}/root/etc/hostname`).trim();
  if (record !== undefined && host !== record.name) findings.push(`${id} is called ${host}, expected ${record.name}`);
  return findings;
}

/** First processes that see their sandbox's files; a prepared start still sees the machine's. */
function firstProcesses(
  running: ReadonlySet<string>,
  halves: ReadonlySet<string>,
  runFolder: string,
  all: readonly ProcessFacts[],
): number[] {
  const own = all.filter(({ sandboxId }) => sandboxId !== null && running.has(sandboxId) && !halves.has(sandboxId));
  return own.flatMap(({ pid, sandboxId }) => (stateOf(runFolder, sandboxId ?? '').pid === pid ? [pid] : []));
}

function strayProcesses(
  { platformPid, runFolder }: Audited,
  all: readonly ProcessFacts[],
  running: Set<string>,
  prepared: number,
): string[] {
  const launchers = launchersIn(all, runFolder);
  // The first process of this namespace, this process, the platform and its launcher.
  const known = new Set([1, process.pid, platformPid, ...launchers.map(({ pid }) => pid)]);
  const stray = all.filter(({ pid, sandboxId }) => (sandboxId === null ? !known.has(pid) : !running.has(sandboxId)));
  const descriptors = launchers.flatMap(({ pid }) => namespaceDescriptors(pid));
  return [
    ...stray.map(
      ({ pid, command, sandboxId }) => `process ${pid} of ${sandboxId ?? 'no sandbox'} is left over: ${command}`,
    ),
    ...(launchers.length === 1 && launchers[0]?.parentPid === platformPid
      ? []
      : [`launchers: ${launchers.map(({ pid, parentPid }) => `${pid} of ${parentPid}`).join(', ') || 'none'}`]),
    // A prepared start holds two namespaces that are set up from outside.
    ...(descriptors.length === 2 * prepared ? [] : [`the launcher keeps ${descriptors.join(', ')} open`]),
  ];
}

function strayGroups(running: Set<string>): string[] {
  const { of, others, hierarchies } = controlGroups();
  const findings = others.map((group) => `control group ${group} is left over`);
  for (const [id, points] of of)
    if (!running.has(id)) findings.push(`control group of ${id} is left over in ${points.join(', ')}`);
  for (const id of running) findings.push(...differences(`control group of ${id} in`, of.get(id) ?? [], hierarchies));
  return findings;
}

function strayLinks({ runFolder }: Audited, running: Set<string>, recorded: Map<string, SandboxRecord>): string[] {
  const expectedLinks: string[] = [];
  const expectedTables: string[] = [];
  const taken = slots(runFolder);
  const unknown = new Map<string, string>();
  for (const [slot, id] of taken) {
    const record = recorded.get(id);
    const name = `svcsb${slot}`;
    // A warm sandbox has the network of the configuration.
    if (running.has(id) && (record?.network ?? 'egress') === 'egress') expectedLinks.push(name);
    if (running.has(id) && (record?.egress_allow ?? null) !== null)
      expectedTables.push(`table inet svc_egress_${name}`);
    unknown.set(name, id);
  }
  const tables = firewallTables().filter((line) => !/^table inet svc_(sandboxes_\d+|forwarding)$/.test(line));
  return [...differences('link', links(), expectedLinks), ...differences('firewall', tables, expectedTables)];
}

function strayMounts(
  { runFolder, dataFolder }: Audited,
  all: readonly ProcessFacts[],
  halves: ReadonlySet<string>,
): string[] {
  // A prepared start still sees the same mounts as its launcher.
  const ahead = all.filter(({ sandboxId }) => halves.has(sandboxId ?? ''));
  const launchers = new Set([...launchersIn(all, runFolder), ...ahead].map(({ pid }) => pid));
  return mountsNaming([runFolder, dataFolder], all)
    .filter(({ pid, place }) => {
      const ofLauncher = place.startsWith(`${runFolder}/cgroups/`) || place === `${runFolder}/roots`;
      return !(launchers.has(pid) && ofLauncher);
    })
    .map(({ pid, place, type }) => `mount ${place} (${type}) is left over, as process ${pid} sees it`);
}
