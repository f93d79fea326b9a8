import { readdirSync, readlinkSync } from 'node:fs';
import type { Kubectl } from '../kubernetes/kubectl.ts';
import { textOf } from '../sandbox-kills/ground.ts';

/** What the audit reads of a pod. */
export interface PodFacts {
  readonly name: string;
  readonly uid: string;
  /** Null for a pod that is no sandbox. */
  readonly sandboxId: string | null;
  readonly state: string | null;
  readonly phase: string;
  readonly isDeleting: boolean;
}

interface ListedPod {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly deletionTimestamp?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly status: { readonly phase: string };
}

export async function podsIn(kubectl: Kubectl, namespace: string): Promise<PodFacts[]> {
  const text = await kubectl('-n', namespace, 'get', 'pods', '-o', 'json');
  const { items } = JSON.parse(text) as { items: readonly ListedPod[] }; // as the API documents it
  return items.map(({ metadata, status }) => ({
    name: metadata.name,
    uid: metadata.uid,
    sandboxId: metadata.labels?.['svc.dev/sandbox'] ?? null,
    state: metadata.annotations?.['svc.dev/sandbox-state'] ?? null,
    phase: status.phase,
    isDeleting: metadata.deletionTimestamp !== undefined,
  }));
}

/** A process of a pod, as this machine sees it. */
export interface PodProcess {
  readonly pid: number;
  readonly podUid: string;
  readonly command: string;
  readonly isStopped: boolean;
  /** Its namespace of processes: that of the sandbox, or another one of the pod. */
  readonly namespace: string;
}

/** Every process of every pod on this machine. */
export function podProcesses(): PodProcess[] {
  const found: PodProcess[] = [];
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const uid = /\/pod([0-9a-f_-]{36})[/.]/.exec(textOf(`/proc/${name}/cgroup`))?.[1];
    if (uid === undefined) continue;
    // The name in parentheses may contain anything; the state follows the last one.
    const [state = 'X'] = textOf(`/proc/${name}/stat`).split(') ').at(-1)?.split(' ') ?? [];
    if (state === 'Z' || state === 'X') continue;
    const command = textOf(`/proc/${name}/cmdline`).replaceAll('\0', ' ').trim();
    const [podUid, namespace] = [uid.replaceAll('_', '-'), namespaceOf(name)];
    found.push({ pid: Number(name), podUid, command, isStopped: state === 'T', namespace });
  }
  return found;
}

/** Empty once the process has ended. */
function namespaceOf(pid: string): string {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`);
  } catch {
    return '';
  }
}

export function isHelper({ command }: PodProcess): boolean {
  return command.startsWith('/.sandbox/agent init');
}

export function isBridge({ command }: PodProcess): boolean {
  return command.startsWith('/.sandbox/agent bridge');
}

/** Neither the helper nor what the container runtime starts for it. */
export function isProgram({ command }: PodProcess): boolean {
  return !/^(\/\.sandbox\/agent|runc|\/proc\/self\/exe init)/.test(command) && command !== '';
}
