import { setTimeout as delay } from 'node:timers/promises';
import { answered, type SandboxRecord } from '../sandbox-kills/api.ts';
import type { KnownSandbox } from '../sandbox-kills/journal.ts';
import { look, type Audited } from './pod-audit.ts';
import type { PodCampaign } from './pod-campaign.ts';
import { podsIn } from './pods.ts';

const LIMIT_MS = 60_000;
const LOOK_EVERY_MS = 500;

interface Planted extends Audited {
  /** Id of a running sandbox with /root/one, the journal's entry of it, and the name of its pod. */
  readonly id: string;
  readonly known: KnownSandbox;
  readonly pod: string;
}

interface Control {
  readonly name: string;
  /** What the auditor must report. */
  readonly expected: RegExp;
  readonly plant: (subject: Planted) => Promise<unknown>;
}

/** A pod that is no sandbox's own, with the label of one. */
async function strangePod({ kubectl, namespace }: Planted, sandboxId: string): Promise<void> {
  const metadata = { name: 'stranger', namespace, labels: { 'svc.dev/sandbox': sandboxId } };
  const container = { name: 'main', image: 'localhost/busybox:1', command: ['sleep', '1000'] };
  const spec = { containers: [container], terminationGracePeriodSeconds: 0 };
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec };
  await kubectl.withInput(JSON.stringify(pod), 'apply', '--filename', '-');
}

/** Every fault that the auditor must detect, each planted on purpose. */
export const CONTROLS: readonly Control[] = [
  {
    name: 'a pod without a record',
    expected: /pod stranger of sbx_stranger is left over/,
    plant: (subject) => strangePod(subject, 'sbx_stranger'),
  },
  {
    name: 'a second pod of a sandbox',
    expected: /sbx_\w+ has 2 pods: .*stranger/,
    plant: (subject) => strangePod(subject, subject.id),
  },
  {
    name: 'a lost pod',
    expected: /is error \(.*expected running/,
    plant: ({ kubectl, namespace, pod }) => kubectl('-n', namespace, 'delete', 'pod', pod),
  },
  {
    name: 'changed files',
    expected: /\/root\/one of sandbox .* found \d+ other bytes/,
    plant: ({ kubectl, namespace, pod }) =>
      kubectl('-n', namespace, 'exec', pod, '--', '/bin/sh', '-c', 'echo else > /root/one'),
  },
  {
    name: 'a program in a stopped sandbox',
    expected: /process \d+ of sbx_\w+, which is stopped: sleep 1000/,
    plant: async ({ api, kubectl, namespace, pod, id, known }) => {
      await answered(api('POST', `/api/containers/${id}/stop`));
      known.states = new Set(['stopped']);
      const script = '(sleep 1000 >/dev/null 2>&1 &)';
      await kubectl('-n', namespace, 'exec', pod, '--', '/bin/sh', '-c', script);
    },
  },
  {
    name: 'a sandbox that no client created',
    expected: /no client created sandbox/,
    plant: ({ api }) =>
      answered(api('POST', '/api/containers?wait_ms=30000', { json: { image: 'busybox', network: 'none' } })),
  },
];

/** Plants every fault in turn on an idle platform and returns those the auditor misses. */
export async function proveControls(campaign: PodCampaign, say: (line: string) => void): Promise<string[]> {
  const missed: string[] = [];
  for (const { name, plant, expected } of CONTROLS) {
    const subject = await prepare(campaign);
    const clean = await campaign.audit();
    if (clean.length > 0) return [`before the control "${name}": ${clean.join('; ')}`];
    await plant(subject);
    const findings = await findingsWith(expected, subject);
    const isFound = findings.some((finding) => expected.test(finding));
    say(`control ${name}: ${isFound ? 'found' : 'MISSED'}: ${findings.join('; ')}`);
    if (!isFound) missed.push(`${name} was not found; the auditor said: ${findings.join('; ') || 'nothing'}`);
    await clear(campaign, subject);
  }
  return missed.length > 0 ? missed : campaign.finish();
}

async function findingsWith(expected: RegExp, audited: Audited): Promise<string[]> {
  const deadline = performance.now() + LIMIT_MS;
  for (;;) {
    const { findings } = await look(audited);
    if (performance.now() > deadline || findings.some((finding) => expected.test(finding))) return findings;
    await delay(LOOK_EVERY_MS);
  }
}

/** Creates one running sandbox with a file. */
async function prepare(campaign: PodCampaign): Promise<Planted> {
  const audited = await campaign.audited();
  const { api, journal, kubectl, namespace } = audited;
  const label = `control-${journal.nextNumber()}`;
  const json = { image: 'busybox', name: label, labels: { campaign: label }, network: 'none' };
  const { body } = await answered(api('POST', '/api/containers?wait_ms=30000', { json }));
  const record = body as unknown as SandboxRecord; // as the API documents it
  const { id, network, egress_allow: egressAllow, resources } = record;
  const known = journal.beginSandbox(label, { name: label, network, egressAllow, resources });
  journal.made(known, id);
  const content = journal.nextNumber();
  await answered(api('POST', `/api/containers/${id}/files?path=/root/one`, { bytes: journal.bytesOf(content) }));
  known.files = new Map([['/root/one', [content]]]);
  const pod = (await podsIn(kubectl, namespace)).find(({ sandboxId }) => sandboxId === id)?.name ?? '';
  return { ...audited, id, known, pod };
}

async function clear(campaign: PodCampaign, { api, journal, kubectl, namespace }: Planted): Promise<void> {
  await kubectl('-n', namespace, 'delete', 'pod', 'stranger', '--ignore-not-found');
  const { body } = await answered(api('GET', '/api/containers?page_size=200'));
  const sandboxes = body['containers'] as readonly SandboxRecord[]; // as the API documents it
  for (const { id } of sandboxes) await answered(api('DELETE', `/api/containers/${id}`));
  journal.sandboxes.length = 0;
  journal.findings.length = 0;
  const findings = await campaign.audit();
  if (findings.length > 0) throw new Error(`a control was not cleared: ${findings.join('; ')}`);
}
