import type { HeldLease, WorkLeaseCommands, WorkLeaseQueries } from '../../domain/ports/work-leases.ts';
import { all, change, type Program } from '../program.ts';
import { integer, text } from '../row.ts';

type Command<Name extends keyof WorkLeaseCommands> = Parameters<WorkLeaseCommands[Name]>[0];
type Query<Name extends keyof WorkLeaseQueries> = Parameters<WorkLeaseQueries[Name]>[0];

export function* takeLease({ name, holder, nowMs, untilMs }: Command<'takeLease'>): Program<boolean> {
  const rows = yield* change(
    `insert into work_lease (name, holder, expires_at_ms) values (?, ?, ?)
     on conflict (name) do update set holder = excluded.holder, expires_at_ms = excluded.expires_at_ms
       where work_lease.holder = excluded.holder or work_lease.expires_at_ms <= ?
     returning name`,
    name,
    holder,
    untilMs,
    nowMs,
  );
  return rows.length === 1;
}

export function* releaseLease({ name, holder }: Command<'releaseLease'>): Program<void> {
  yield* change('delete from work_lease where name = ? and holder = ?', name, holder);
}

export function* workLeases({ nowMs }: Query<'workLeases'>): Program<readonly HeldLease[]> {
  const rows = yield* all(
    'select name, holder, expires_at_ms from work_lease where expires_at_ms > ? order by name',
    nowMs,
  );
  return rows.map((row) => ({
    name: text(row, 'name'),
    holder: text(row, 'holder'),
    untilMs: integer(row, 'expires_at_ms'),
  }));
}
