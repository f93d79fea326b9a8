import {
  findBreach,
  gateSubjects,
  isLimited,
  type Breach,
  type Demand,
  type Limits,
  passQuotaGate,
  type Quota,
  QUOTA_SCOPES,
  scopeUsage,
  type Usage,
} from '@svc/quotas';
import { sql, type Kysely, type RawBuilder, type Transaction } from 'kysely';
import { sandboxQuotas } from '../quotas.ts';
import type { SandboxTables } from './tables.ts';
import { MIB, USAGE_COLUMNS, USAGE_SOURCES, type UsageSource } from './usage-sources.ts';

/** Blocks other counts of the workspace, its owner and the caller until the transaction ends. */
export async function enterGate(
  transaction: Transaction<SandboxTables>,
  limits: Limits,
  accountableId?: string,
): Promise<void> {
  const caller = accountableId === undefined ? [] : [`caller/${accountableId}`];
  await passQuotaGate(transaction, 'sandboxes', [...caller, ...gateSubjects(limits)]);
}

/** Returns the first limit that the demand would exceed; exact behind the gate. Counts only what is limited. */
export async function breachIn(
  transaction: Transaction<SandboxTables>,
  limits: Limits,
  demand: Demand,
): Promise<Breach | null> {
  const limited = demand
    .map(([quota]) => quota)
    .filter((quota) => QUOTA_SCOPES.some((scope) => isLimited(limits, scope, [quota])));
  if (limited.length === 0) return null;
  const usage = await usageByWorkspace(transaction, limits.ownerWorkspaces, limited);
  return findBreach(limits, demand, scopeUsage(limits, usage));
}

/** Usage of each workspace, at least for the given quotas, in one query. */
export async function usageByWorkspace(
  kysely: Kysely<SandboxTables>,
  workspaceUuids: readonly string[],
  quotas: readonly Quota[] = Object.values(sandboxQuotas),
): Promise<ReadonlyMap<string, Usage>> {
  const usages = new Map<string, Record<string, number>>(workspaceUuids.map((uuid) => [uuid, {}]));
  const sources = USAGE_SOURCES.filter(({ counts }) => counts.some(({ quota }) => quotas.includes(quota)));
  if (workspaceUuids.length === 0 || sources.length === 0) return usages;
  const parts = sources.map((source, index) => rowsOf(source, index, kysely, workspaceUuids));
  const { rows } = await sql<UsageRow>`${sql.join(parts, sql` union all `)}`.execute(kysely);
  for (const { workspace_uuid: uuid, source, ...columns } of rows) {
    const usage = usages.get(uuid) ?? {};
    for (const [index, { quota, units = 1 }] of (sources[source]?.counts ?? []).entries()) {
      const amount = Number(columns[USAGE_COLUMNS[index] ?? 'n0']) / units;
      usage[quota.name] = (usage[quota.name] ?? 0) + (units === MIB ? Math.ceil(amount) : amount);
    }
    usages.set(uuid, usage);
  }
  return usages;
}

/** PostgreSQL gives sums as text. */
type UsageRow = { readonly workspace_uuid: string; readonly source: number } & Readonly<
  Record<(typeof USAGE_COLUMNS)[number], number | string>
>;

/** The rows of a source, which its index marks, with 0 in the columns that it lacks. */
function rowsOf(
  { counts, select }: UsageSource,
  index: number,
  kysely: Kysely<SandboxTables>,
  workspaceUuids: readonly string[],
): RawBuilder<UsageRow> {
  const columns = USAGE_COLUMNS.map((name, at) => (at < counts.length ? sql.ref(name) : sql`0 as ${sql.ref(name)}`));
  const from = select(kysely, workspaceUuids).as(`source${index}`);
  return sql`select workspace_uuid, ${sql.lit(index)} as source, ${sql.join(columns)} from ${from}`;
}
