import { Search, Tag } from 'lucide-react';
import { useState } from 'react';
import { TextField } from '../../../ui/field.tsx';
import { Select, type SelectOption } from '../../../ui/select.tsx';
import type { SandboxStatus } from '@svc/sdk';
import styles from './list.module.css';
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
  const [draft, setDraft] = useState(label ?? '');
  const isWrong = draft !== '' && !isLabel(draft);
  const applyLabel = (): void => {
    if (isWrong || draft === (label ?? '')) return;
    onChange({ ...rest, ...(status && { status }), ...(text && { text }), ...(draft !== '' && { label: draft }) });
  };
  return (
    <form
      role="search"
      aria-label="Filter sandboxes"
      className={styles['filters']}
      onSubmit={(event) => {
        event.preventDefault();
        applyLabel();
      }}
      onBlur={applyLabel}
    >
      <TextField
        label="Name, image or ID"
        labelHidden
        type="search"
        placeholder="Name, image or ID"
        autoComplete="off"
        spellCheck={false}
        leading={<Search size={14} />}
        value={text ?? ''}
        onChange={({ target }) =>
          onChange({
            ...rest,
            ...(status && { status }),
            ...(label && { label }),
            ...(target.value !== '' && { text: target.value }),
          })
        }
      />
      <TextField
        label="Label"
        labelHidden
        type="search"
        placeholder="Label: team=web"
        autoComplete="off"
        spellCheck={false}
        leading={<Tag size={14} />}
        value={draft}
        error={isWrong ? 'Use key=value.' : undefined}
        onChange={({ target }) => {
          setDraft(target.value);
          if (target.value === '' && label !== undefined) {
            onChange({ ...rest, ...(status && { status }), ...(text && { text }) });
          }
        }}
      />
      <Select
        label="Status"
        labelHidden
        options={STATUSES}
        value={status ?? 'all'}
        onChange={(next) =>
          onChange({ ...rest, ...(label && { label }), ...(text && { text }), ...(next !== 'all' && { status: next }) })
        }
      />
      <button type="submit" className="visually-hidden">
        Apply filters
      </button>
    </form>
  );
}
