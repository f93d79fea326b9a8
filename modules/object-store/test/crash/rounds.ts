import { fileURLToPath } from 'node:url';
import { setTimeout as delay } from 'node:timers/promises';
import type { S3Client } from '@aws-sdk/client-s3';
import { sdkClient } from '../support/s3-client.ts';
import { startServing } from '../support/store-process.ts';
import { audit } from './audit.ts';
import type { CampaignState } from './campaign-state.ts';
import { workUntilCut } from './load.ts';
import { randomSource } from './random-source.ts';
import type { ServedCampaign } from './serve-campaign.ts';

const CLIENTS = 8;
const LONGEST_RUN_MS = 1_200;

export interface Round {
  folder: string;
  state: CampaignState;
  seed: number;
  round: number;
  /** Minimum time before the kill. Default: 20. */
  atLeastMs?: number;
}

export interface Reader {
  readonly client: S3Client;
  /** Audits what the previous process left, with fsck and against every acknowledged operation. */
  audit(state: CampaignState): Promise<string[]>;
}

/** Starts the server on what the last kill left, audits it, runs load and kills it. Returns the findings. */
export async function runRound({ folder, state, seed, round, atLeastMs = 20 }: Round): Promise<string[]> {
  const random = randomSource(seed + round);
  const server = await startServer(folder);
  try {
    const findings = await createReader(server).audit(state);
    if (findings.length > 0) return findings;
    const s3 = sdkClient(server, server);
    const clients = Array.from({ length: CLIENTS }, (_, index) =>
      workUntilCut({
        s3,
        management: server.management,
        state,
        name: `client-${index}`,
        random: randomSource(seed + round * CLIENTS + index),
      }),
    );
    await delay(atLeastMs + random() * LONGEST_RUN_MS); // only the moment of the kill is random
    await server.kill();
    await Promise.all(clients);
    s3.destroy();
    return [];
  } finally {
    await server.kill();
  }
}

export async function withServer<Result>(folder: string, work: (reader: Reader) => Promise<Result>): Promise<Result> {
  const server = await startServer(folder);
  try {
    return await work(createReader(server));
  } finally {
    await server.kill();
  }
}

function startServer(folder: string) {
  return startServing<ServedCampaign>(fileURLToPath(new URL('./serve-campaign.ts', import.meta.url)), folder);
}

function createReader(server: ServedCampaign): Reader {
  // The SDK would detect a wrong checksum itself; here the auditor must.
  const client = sdkClient(server, server, { responseChecksumValidation: 'WHEN_REQUIRED' });
  return {
    client,
    audit: async (state) => {
      const damage = server.fsck.clean ? [] : [`fsck: ${JSON.stringify(server.fsck)}`];
      const findings = [...damage, ...(await audit(client, state, await listAccessKeys(server)))];
      client.destroy();
      return findings;
    },
  };
}

async function listAccessKeys({ management: { url, token } }: ServedCampaign): Promise<Set<string>> {
  const response = await fetch(`${url}/keys`, { headers: { authorization: `Bearer ${token}` } });
  const { data } = (await response.json()) as { data: { keys: { accessKeyId: string }[] } }; // as in the contract
  return new Set(data.keys.map((key) => key.accessKeyId));
}
