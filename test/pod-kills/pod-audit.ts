import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Kubectl } from '../kubernetes/kubectl.ts';
import { readRecords, type Api, type Records, type SandboxRecord } from '../sandbox-kills/api.ts';
import { surely } from '../sandbox-kills/client.ts';
import { wrongContent, writtenFiles } from '../sandbox-kills/file-operations.ts';
import type { Journal } from '../sandbox-kills/journal.ts';
import { isHelper, isProgram, podProcesses, podsIn, type PodFacts, type PodProcess } from './pods.ts';

/** Time for platform and cluster to settle; anything still wrong afterwards is a finding. */
const REST_LIMIT_MS = 90_000;
/** The platform limits scrapes of its metrics to five a second. */
const LOOK_EVERY_MS = 500;

export interface Audited {
  readonly api: Api;
  readonly kubectl: Kubectl;
  readonly journal: Journal;
  readonly namespace: string;
  readonly dataFolder: string;
  /** Sandboxes whose pod was ended on purpose: their files are gone. */
  readonly lost: ReadonlySet<string>;
}

/** Reports what is wrong once no requests are pending and platform and cluster have had time to settle. */
export async function audit(audited: Audited): Promise<string[]> {
  const deadline = performance.now() + REST_LIMIT_MS;
  for (;;) {
    const { isAtRest, findings } = await look(audited);
    if (isAtRest || performance.now() > deadline) return [...audited.journal.findings.splice(0), ...findings];
    await delay(LOOK_EVERY_MS);
  }
}

/** At rest, records and pods agree; only then are they compared with what the clients know. */
export async function look(audited: Audited): Promise<{ isAtRest: boolean; findings: string[] }> {
  const { api, journal } = audited;
  const records = await readRecords(api);
  const pods = await podsIn(audited.kubectl, audited.namespace);
  const findings = compare(audited, records, pods, podProcesses());
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

function compare(
  audited: Audited,
  { sandboxes, snapshots }: Records,
  pods: readonly PodFacts[],
  processes: readonly PodProcess[],
): string[] {
  const recorded = new Map(sandboxes.map((record) => [record.id, record]));
  const strangers = pods.filter(({ sandboxId }) => sandboxId === null || !recorded.has(sandboxId));
  return [
    ...sandboxes.filter(({ status }) => status === 'creating').map(({ id }) => `${id} is still being made`),
    ...pods.filter(({ isDeleting }) => isDeleting).map(({ name }) => `pod ${name} is still being deleted`),
    ...strangers.map(({ name, sandboxId }) => `pod ${name} of ${sandboxId ?? 'no sandbox'} is left over`),
    ...sandboxes.flatMap((record) => podOf(audited, record, pods, processes)),
    ...strayFolders(audited, new Set(snapshots.map(({ id }) => id))),
  ];
}

/** Checks that a sandbox has one pod, in the state of its record, unless the pod was ended on purpose. */
function podOf(
  { lost }: Audited,
  record: SandboxRecord,
  pods: readonly PodFacts[],
  processes: readonly PodProcess[],
): string[] {
  const { id, status } = record;
  const own = pods.filter(({ sandboxId, isDeleting }) => sandboxId === id && !isDeleting);
  const [pod] = own;
  if (own.length > 1) return [`${id} has ${own.length} pods: ${own.map(({ name }) => name).join(', ')}`];
  if (status === 'creating' || status === 'error') return [];
  if (pod === undefined) return lost.has(id) && status === 'stopped' ? [] : [`${id} is ${status} and has no pod`];
  if (lost.has(id) && status === 'stopped') return [];
  const findings: string[] = [];
  const wanted = status === 'running' && record.paused_at !== null ? 'paused' : status;
  if (pod.phase !== 'Running') findings.push(`${id} is ${status}, and its pod is ${pod.phase}`);
  if (pod.state !== wanted) findings.push(`${id} is ${wanted}, and its pod says ${pod.state}`);
  const inside = processes.filter(({ podUid }) => podUid === pod.uid);
  const helpers = inside.filter(isHelper);
  if (helpers.length !== 1) findings.push(`${id} has ${helpers.length} helpers`);
  const programs = inside.filter((each) => each.namespace === helpers[0]?.namespace && isProgram(each));
  const describe = ({ pid, command }: PodProcess): string => `process ${pid} of ${id}, which is ${wanted}: ${command}`;
  if (wanted === 'stopped') findings.push(...programs.map(describe));
  else findings.push(...programs.filter(({ isStopped }) => isStopped !== (wanted === 'paused')).map(describe));
  return findings;
}

/** Folders of snapshots that no record names, and records whose folder is missing. */
function strayFolders({ dataFolder }: Audited, snapshots: ReadonlySet<string>): string[] {
  const folder = join(dataFolder, 'sandboxes', 'pod-snapshots');
  const found = namesIn(folder).map((name) => name.replace(/\..*$/, ''));
  return [
    ...found.filter((id) => !snapshots.has(id)).map((id) => `the files of snapshot ${id} are left over`),
    ...[...snapshots].filter((id) => !found.includes(id)).map((id) => `the files of snapshot ${id} are missing`),
  ];
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // before the first snapshot
  }
}
