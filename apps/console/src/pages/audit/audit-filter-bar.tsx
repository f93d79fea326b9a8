import { Search } from 'lucide-react';
import { useState, type FormEvent } from 'react';
import { TextField } from '../../ui/field.tsx';
import { Select, type SelectOption } from '../../ui/select.tsx';
import type { AuditPeriod, AuditSearch } from './audit-search.ts';
import styles from './audit.module.css';
import { formText } from '../../ui/form-text.ts';

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

/** Texts count when the field is left or Enter is pressed: the platform is not asked at every key. */
export function AuditFilterBar({ search, onChange }: AuditFilterBarProps) {
  const apply = (form: HTMLFormElement): void => {
    const next: AuditSearch = { ...keptOf(search), ...textOf(form, 'actor'), ...textOf(form, 'action') };
    if (next.actor !== search.actor || next.action !== search.action) onChange(next);
  };
  return (
    <form
      role="search"
      aria-label="Filter audit log"
      className={styles['filters']}
      onSubmit={(event: FormEvent<HTMLFormElement>) => {
        event.preventDefault();
        apply(event.currentTarget);
      }}
      onBlur={(event) => apply(event.currentTarget)}
    >
      <FilterField name="action" label="Action" placeholder="Action, e.g. token:create" value={search.action} />
      <FilterField name="actor" label="Actor" placeholder="Email or name" value={search.actor} />
      <Select
        label="Period"
        labelHidden
        className={styles['period'] ?? ''}
        options={PERIODS}
        value={search.period ?? 'all'}
        onChange={(period) => {
          const { period: _before, ...rest } = search;
          onChange(period === 'all' ? rest : { ...rest, period });
        }}
      />
      <button type="submit" className="visually-hidden">
        Apply filters
      </button>
    </form>
  );
}

interface FilterFieldProps {
  name: 'action' | 'actor';
  label: string;
  placeholder: string;
  value: string | undefined;
}

function FilterField({ name, label, placeholder, value = '' }: FilterFieldProps) {
  const [draft, setDraft] = useState({ text: value, of: value });
  const text = draft.of === value ? draft.text : value; // the URL changed elsewhere: what was typed before is gone
  return (
    <TextField
      name={name}
      label={label}
      labelHidden
      placeholder={placeholder}
      type="search"
      autoComplete="off"
      spellCheck={false}
      maxLength={254}
      leading={<Search size={14} />}
      value={text}
      onChange={(event) => setDraft({ text: event.target.value, of: value })}
    />
  );
}

function keptOf({ of, period }: AuditSearch): AuditSearch {
  return { ...(of !== undefined && { of }), ...(period !== undefined && { period }) };
}

function textOf(form: HTMLFormElement, name: 'action' | 'actor'): AuditSearch {
  const text = formText(form, name).trim();
  return text === '' ? {} : { [name]: text };
}
