import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryFolder } from '@svc/testing';
import { TEST_IMAGE } from '../kubernetes/agent-fixture.ts';
import type { Kubernetes } from '../kubernetes/index.ts';
import { createSandboxNamespace, HELPER_IMAGE } from '../kubernetes/sandbox-namespace.ts';
import { importantOf } from '../sandbox-kills/inside.ts';
import { DEFAULT_RESOURCES } from '../sandbox-kills/lifecycle-operations.ts';
import { PodCampaign } from './pod-campaign.ts';
import { proveControls } from './planted-faults.ts';

export interface Wanted {
  readonly kills: number;
  readonly seed: number;
  /** Tests the auditor instead. */
  readonly controls: boolean;
  readonly say: (line: string) => void;
  readonly stop: AbortSignal;
}

const TELL_EVERY = 10;
const UNLIMITED = { sandbox_cpus: 'unlimited', sandbox_memory: 'unlimited', sandbox_disk: 'unlimited' };

function configuration(kubeconfig: string, namespace: string): unknown {
  return {
    services: ['sandboxes'],
    quotas: { workspace: UNLIMITED, owner: UNLIMITED },
    sandboxes: {
      driver: 'kubernetes',
      image_registry: '',
      images: [{ name: 'busybox', sources: [{ kind: 'registry', reference: TEST_IMAGE }] }],
      nameservers: ['9.9.9.9'],
      resources: DEFAULT_RESOURCES,
      max_per_caller: 10_000,
      max_snapshots_per_caller: 10_000,
      max_creates_per_minute: 1_000_000,
      kubernetes: {
        kubeconfig,
        namespace,
        helper_image: HELPER_IMAGE,
        user_namespaces: false,
        network_policies: 'trust', // few test clusters enforce them
      },
    },
  };
}

/** Runs the campaign in a namespace of its own, and returns what is wrong. */
export async function runPodKills(kubernetes: Kubernetes, wanted: Wanted): Promise<string[]> {
  const { seed, controls, say } = wanted;
  await using folder = await temporaryFolder('svc-pod-kills-');
  await using namespace = await createSandboxNamespace(kubernetes, 'svc-unused');
  const configFile = join(folder.path, 'svc.yaml');
  await writeFile(configFile, JSON.stringify(configuration(namespace.kubeconfig, namespace.name))); // JSON is YAML
  await using campaign = new PodCampaign({
    kubectl: kubernetes.kubectl,
    namespace: namespace.name,
    dataFolder: join(folder.path, 'data'),
    configFile,
    seed,
  });
  const findings = controls ? await proveControls(campaign, say) : await kill(campaign, wanted);
  if (findings.length > 0) {
    for (const finding of findings) say(`  ${finding}`);
    say(`what happened last:\n${campaign.journal.events.join('\n')}`);
    say(`the platform said last:\n${importantOf(campaign.log)}`);
  } else say(controls ? 'clean: the controls' : `clean: ${summary(campaign)}`);
  return findings;
}

async function kill(campaign: PodCampaign, { kills, say, stop }: Wanted): Promise<string[]> {
  const startedAt = performance.now();
  let told = 0;
  while (campaign.killed < kills && !stop.aborted) {
    const findings = await campaign.round(kills - campaign.killed, stop);
    if (findings.length > 0) return findings;
    if (campaign.killed - told < TELL_EVERY) continue;
    told = campaign.killed;
    say(`${summary(campaign)}, ${Math.round((performance.now() - startedAt) / 1_000)} s`);
  }
  return campaign.finish();
}

function summary({ kills, killed, journal }: PodCampaign): string {
  const each = [...kills].map(([victim, count]) => `${victim} ${count}`).join(', ');
  const operations = [...journal.answered].map(([name, count]) => `${name} ${count}`).join(', ');
  return `${killed} kills (${each}), ${journal.answeredTotal} operations answered (${operations}), ${journal.open} cut off`;
}
