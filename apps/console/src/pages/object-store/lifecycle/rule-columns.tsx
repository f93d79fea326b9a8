import { Pencil, Trash2 } from 'lucide-react';
import { Status } from '../../../ui/badge.tsx';
import { IconButton } from '../../../ui/button.tsx';
import type { Column } from '../../../ui/table.tsx';
import styles from './lifecycle.module.css';
import { describeRule } from './describe-rule.ts';
import type { Rule } from './rule.ts';

export interface RuleActions {
  onEdit: (rule: Rule) => void;
  onRemove: (rule: Rule) => void;
}

/** `actions` is null for read-only users. */
export function ruleColumns(actions: RuleActions | null): Column<Rule>[] {
  return [
    { id: 'effect', header: 'Rule', cell: (rule) => <Effect rule={rule} /> },
    {
      id: 'state',
      header: 'Status',
      width: '6.5rem',
      narrowWidth: '4.5rem',
      cell: ({ enabled }) => <Status tone={enabled ? 'ok' : 'neutral'}>{enabled ? 'On' : 'Off'}</Status>,
    },
    {
      id: 'actions',
      header: 'Actions',
      headerHidden: true,
      align: 'end',
      width: 'calc(2 * var(--control-small) + 2.25rem)',
      cell: (rule) =>
        actions !== null && (
          <>
            <IconButton size="small" label={`Edit ${rule.id}`} onClick={() => actions.onEdit(rule)}>
              <Pencil size={14} />
            </IconButton>
            <IconButton size="small" label={`Delete ${rule.id}`} onClick={() => actions.onRemove(rule)}>
              <Trash2 size={14} />
            </IconButton>
          </>
        ),
    },
  ];
}

function Effect({ rule }: { rule: Rule }) {
  const { effects, scope } = describeRule(rule);
  return (
    <div className={styles['effect']}>
      <span className={styles['id']}>{rule.id}</span>
      {effects.map((effect) => (
        <span key={effect}>{effect}</span>
      ))}
      <span className="muted">Applies to {scope}</span>
    </div>
  );
}
