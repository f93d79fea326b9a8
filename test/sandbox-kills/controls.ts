import { setTimeout as delay } from 'node:timers/promises';
import { look, type Audited } from './audit.ts';
import { answered, readRecords, type SandboxRecord } from './api.ts';
import type { Campaign } from './campaign.ts';
import { SANDBOX_CONTROLS } from './planted-faults.ts';
import { TEMPLATE_CONTROLS } from './planted-template-faults.ts';
import type { Control, Planted } from './planting.ts';

/** Every fault the auditor must detect, each planted on purpose. */
export const CONTROLS: readonly Control[] = [...SANDBOX_CONTROLS, ...TEMPLATE_CONTROLS];

/** Time limit for a fault to be seen; anything else in progress has ended by then. */
const LIMIT_MS = 30_000;
/** The platform limits scrapes of its metrics to five a second. */
const LOOK_EVERY_MS = 250;

/** Plants every fault in turn on an idle platform and returns those the auditor misses. */
export async function proveControls(campaign: Campaign, say: (line: string) => void): Promise<string[]> {
  const missed: string[] = [];
  for (const { name, plant, expected } of CONTROLS) {
    const audited = await campaign.audited();
    const subject = await prepare(campaign, audited);
    const clean = await campaign.audit();
    if (clean.length > 0) return [`before the control "${name}": ${clean.join('; ')}`];
    const undo = await plant(subject);
    const findings = await findingsWith(expected, audited);
    await undo();
    const isFound = findings.some((finding) => expected.test(finding));
    say(`control ${name}: ${isFound ? 'found' : 'MISSED'}: ${findings.join('; ')}`);
    if (!isFound) missed.push(`${name} was not found; the auditor said: ${findings.join('; ') || 'nothing'}`);
    const { journal } = campaign;
    for (const { id } of journal.sandboxes) await answered(audited.api('DELETE', `/api/containers/${id}`));
    journal.sandboxes.length = 0;
  }
  return missed;
}

async function findingsWith(expected: RegExp, audited: Audited): Promise<string[]> {
  const deadline = performance.now() + LIMIT_MS;
  for (;;) {
    const { isAtRest, findings } = await look(audited);
    const isOver = isAtRest || performance.now() > deadline;
    if (isOver || findings.some((finding) => expected.test(finding))) return findings;
    await delay(LOOK_EVERY_MS);
  }
}

/** Creates one running sandbox with a file, and one stopped sandbox. */
async function prepare({ journal }: Campaign, audited: Audited): Promise<Planted> {
  const { api } = audited;
  const make = async (): Promise<string> => {
    const label = `control-${journal.nextNumber()}`;
    const json = { image: 'busybox', name: label, labels: { campaign: label } };
    const { body } = await answered(api('POST', '/api/containers?wait_ms=30000', { json }));
    const record = body as unknown as SandboxRecord; // as the API documents it
    const { network, egress_allow: egressAllow, resources } = record;
    const known = journal.beginSandbox(label, { name: label, network, egressAllow, resources });
    journal.made(known, record.id);
    return record.id;
  };
  const running = await make();
  const stopped = await make();
  const [first, second] = journal.sandboxes;
  if (first === undefined || second === undefined) throw new Error('nothing was made');
  const content = journal.nextNumber();
  await answered(api('POST', `/api/containers/${running}/files?path=/root/one`, { bytes: journal.bytesOf(content) }));
  first.files = new Map([['/root/one', [content]]]);
  await answered(api('POST', `/api/containers/${stopped}/stop`));
  second.states = new Set(['stopped']);
  const { sandboxes } = await readRecords(api);
  if (sandboxes.length !== 2) throw new Error(`${sandboxes.length} sandboxes are there, expected 2`);
  return { ...audited, running, stopped, known: first };
}
