import { FilterField, FilterForm } from '../../ui/filter-form.tsx';
import { Select, type SelectOption } from '../../ui/select.tsx';
import type { AuditPeriod, AuditSearch } from './audit-search.ts';

const PERIODS: readonly SelectOption<AuditPeriod | 'all'>[] = [
  { value: 'all', label: 'All time' },
  { value: '1h', label: 'Last hour' },
  { value: '24h', label: 'Last 24 hours' },
  { value: '7d', label: 'Last 7 days' },
  { value: '30d', label: 'Last 30 days' },
];

export interface AuditFilterBarProps {
  search: AuditSearch;
  onChange: (search: AuditSearch) => void;
}

export function AuditFilterBar({ search, onChange }: AuditFilterBarProps) {
  const { actor, action, period, ...rest } = search;
  const apply = (
    changes: Partial<Record<'actor' | 'action', string | undefined>> & { period?: AuditPeriod | undefined },
  ) => {
    const next = { actor, action, period, ...changes };
    onChange({
      ...rest,
      ...(next.actor && { actor: next.actor }),
      ...(next.action && { action: next.action }),
      ...(next.period && { period: next.period }),
    });
  };
  return (
    <FilterForm label="Filter audit log">
      <FilterField
        label="Action"
        placeholder="Action, e.g. token:create"
        value={action}
        onApply={(next) => apply({ action: next })}
      />
      <FilterField label="Actor" placeholder="Email or name" value={actor} onApply={(next) => apply({ actor: next })} />
      <Select
        label="Period"
        labelHidden
        options={PERIODS}
        value={period ?? 'all'}
        onChange={(next) => apply({ period: next === 'all' ? undefined : next })}
      />
    </FilterForm>
  );
}
