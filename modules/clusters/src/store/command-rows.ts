import type { CommandName, MessageError } from '@svc/protocol';
import type { Command, CommandActor, CommandState } from '../domain/command.ts';
import type { CommandRow } from './tables.ts';

/** All columns except the payload, which is up to a megabyte and needed only for sending. */
export const COMMAND_COLUMNS = [
  'cluster_command.id',
  'cluster_command.cluster_id',
  'cluster_command.kind',
  'cluster_command.state',
  'cluster_command.created_by',
  'cluster_command.created_at',
  'cluster_command.timeout_ms',
  'cluster_command.sent_at',
  'cluster_command.sent_instance_id',
  'cluster_command.sent_outbox_id',
  'cluster_command.sent_count',
  'cluster_command.acknowledged_at',
  'cluster_command.cancel_requested_at',
  'cluster_command.deadline_at',
  'cluster_command.finished_at',
  'cluster_command.result',
  'cluster_command.error',
] as const;

type SlimCommandRow = Omit<
  CommandRow,
  'payload' | 'output_bytes' | 'note_sequence' | 'progress_sequence' | 'output_sequence'
>;

/** Only this module's stores write these columns, from the same types, so the casts are safe. */
export function toCommand(row: SlimCommandRow): Command {
  return {
    id: row.id,
    clusterId: row.cluster_id,
    kind: row.kind as CommandName,
    state: row.state as CommandState,
    createdBy: JSON.parse(row.created_by) as CommandActor,
    createdAt: row.created_at,
    timeoutMs: row.timeout_ms,
    sentAt: row.sent_at,
    sentInstanceId: row.sent_instance_id,
    sentOutboxId: row.sent_outbox_id,
    sentCount: row.sent_count,
    acknowledgedAt: row.acknowledged_at,
    cancelRequestedAt: row.cancel_requested_at,
    deadlineAt: row.deadline_at,
    finishedAt: row.finished_at,
    result: row.result === null ? null : (JSON.parse(row.result) as Record<string, unknown>),
    error: row.error === null ? null : (JSON.parse(row.error) as MessageError),
  };
}
