import { migrations } from '@svc/migrations';
import type { Database } from '@svc/sql';
import { sqliteSource, type DatabaseSource } from '@svc/testing';
import { CompiledQuery, createQueryId, type Kysely, type KyselyPlugin, type RootOperationNode } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createStores, type Stores } from './stores.ts';
import type { ClusterTables } from './tables.ts';

const AT = '2026-01-01T00:00:00.000Z';
const FIRST = { limit: 50, after: null };
const NEXT = { limit: 50, after: [AT, 'cmd-1'] };
const EVERYTHING = { eventType: null, namespace: null };
const RETENTION = { heartbeatsBefore: AT, averagesBefore: AT, eventsBefore: AT, eventsPerCluster: 10 };

/** Queries that run for every message, page and sweep. */
const CALLS: readonly (readonly [name: string, call: (stores: Stores) => Promise<unknown>])[] = [
  ['the first page of commands', ({ commands }) => commands.list('cls-1', FIRST)],
  ['a further page of commands', ({ commands }) => commands.list('cls-1', NEXT)],
  ['the next command to send', ({ commands }) => commands.open('cls-1', ['queued'], 1)],
  ['what an agent left open', ({ commands }) => commands.open('cls-1', ['dispatched', 'running'], 200)],
  ['clusters with a queue', ({ commands }) => commands.waitingClusters(10)],
  ['commands whose time is over', ({ commands }) => commands.overdue(AT, 10)],
  ['the story of a command', ({ commands }) => commands.notes('cmd-1', 0, 100)],
  ['deployments of a project', ({ deployments }) => deployments.list('cls-1', 'project', NEXT)],
  ['the deployment of a command', ({ deployments }) => deployments.findByCommand('cmd-1')],
  ['a page of clusters', ({ clusters }) => clusters.list('workspace', FIRST)],
  ['a cluster by its name', ({ clusters }) => clusters.find('workspace', 'name')],
  ['the cluster of a token', ({ clusters }) => clusters.findByToken('hash', AT)],
  ['the end of tokens', ({ clusters }) => clusters.expireTokens(AT)],
  ['a page of events', ({ telemetry }) => telemetry.events('cls-1', EVERYTHING, FIRST)],
  ['the history of heartbeats', ({ telemetry }) => telemetry.heartbeats('cls-1', AT, 100)],
  ['the end of reports', ({ telemetry }) => telemetry.prune(RETENTION)],
  ['the end of links', ({ tunnelStore }) => tunnelStore.pruneLinks(AT)],
];

/** SQLite's query plan of each statement of a call: `SEARCH` by an index, `SCAN` of the whole table. */
async function explainPlans(
  kysely: Kysely<ClusterTables>,
  call: (stores: Stores) => Promise<unknown>,
): Promise<string[]> {
  const statements: RootOperationNode[] = [];
  const listener: KyselyPlugin = {
    transformQuery: ({ node }) => {
      statements.push(node);
      return node;
    },
    transformResult: ({ result }) => Promise.resolve(result),
  };
  await call(createStores(kysely.withPlugin(listener)));
  const plans: string[] = [];
  for (const statement of statements) {
    const { sql, parameters } = kysely.getExecutor().compileQuery(statement, createQueryId());
    const query = CompiledQuery.raw(`explain query plan ${sql}`, [...parameters]);
    const { rows } = await kysely.executeQuery<{ detail: string }>(query);
    plans.push(...rows.map(({ detail }) => detail));
  }
  return plans;
}

let source: DatabaseSource;
let database: Database<ClusterTables>;
beforeAll(async () => {
  source = await sqliteSource(migrations);
  database = await source.open<ClusterTables>();
});
afterAll(async () => {
  await database.close();
  await source.close();
});

describe('SQLite', () => {
  it.each(CALLS)('finds %s by an index', async (_name, call) => {
    const plans = await explainPlans(database.kysely, call);
    expect(plans).toContainEqual(expect.stringContaining('SEARCH'));
    // Scanning the clusters is fine: they are few compared with the rows that belong to them.
    expect(plans.filter((plan) => plan.startsWith('SCAN') && plan !== 'SCAN cluster')).toEqual([]);
  });

  it('pages commands without sorting all of them', async () => {
    const plans = await explainPlans(database.kysely, ({ commands }) => commands.list('cls-1', NEXT));
    expect(plans).toEqual(['SEARCH cluster_command USING INDEX cluster_command_newest (cluster_id=?)']);
  });

  it('finds open commands among thousands of finished ones by their state', async () => {
    for (const states of [['queued'], ['dispatched', 'running']] as const) {
      const [plan] = await explainPlans(database.kysely, ({ commands }) => commands.open('cls-1', states, 1));
      expect(plan).toBe('SEARCH cluster_command USING INDEX cluster_command_open (cluster_id=? AND state=?)');
    }
  });
});
