import type { SandboxStatus } from '@svc/sdk';
import { Search, Tag } from 'lucide-react';
import { TextField } from '../../../ui/field.tsx';
import { FilterField, FilterForm } from '../../../ui/filter-form.tsx';
import { Select, type SelectOption } from '../../../ui/select.tsx';
import { isLabel, type SandboxesSearch } from './sandboxes-search.ts';

const STATUSES: readonly SelectOption<SandboxStatus | 'all'>[] = [
  { value: 'all', label: 'Any status' },
  { value: 'running', label: 'Running' },
  { value: 'creating', label: 'Starting' },
  { value: 'stopped', label: 'Stopped' },
  { value: 'error', label: 'Error' },
];

export interface FilterBarProps {
  search: SandboxesSearch;
  onChange: (search: SandboxesSearch) => void;
}

export function FilterBar({ search, onChange }: FilterBarProps) {
  const { status, label, text, ...rest } = search;
  const apply = (changes: { status?: SandboxStatus | undefined; label?: string | undefined; text?: string }): void => {
    const next = { status, label, text, ...changes };
    onChange({
      ...rest,
      ...(next.status && { status: next.status }),
      ...(next.label && { label: next.label }),
      ...(next.text && { text: next.text }),
    });
  };
  return (
    <FilterForm label="Filter sandboxes">
      {/* The list itself is searched, so this one applies at every key. */}
      <TextField
        label="Name, image or ID"
        labelHidden
        type="search"
        placeholder="Name, image or ID"
        autoComplete="off"
        spellCheck={false}
        leading={<Search size={14} />}
        value={text ?? ''}
        onChange={({ target }) => apply({ text: target.value })}
      />
      <FilterField
        label="Label"
        placeholder="Label: team=web"
        icon={<Tag size={14} />}
        value={label}
        check={(typed) => (isLabel(typed) ? undefined : 'Use key=value.')}
        onApply={(next) => apply({ label: next })}
      />
      <Select
        label="Status"
        labelHidden
        options={STATUSES}
        value={status ?? 'all'}
        onChange={(next) => apply({ status: next === 'all' ? undefined : next })}
      />
    </FilterForm>
  );
}
