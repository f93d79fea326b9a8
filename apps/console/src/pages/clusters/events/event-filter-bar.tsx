import { Search } from 'lucide-react';
import { useState } from 'react';
import { TextField } from '../../../ui/field.tsx';
import { Select } from '../../../ui/select.tsx';
import { EVENT_TYPES, eventWords } from './event-words.ts';
import styles from './events.module.css';
import type { EventsSearch } from './events-search.ts';

export interface EventFilterBarProps {
  search: EventsSearch;
  onChange: (search: EventsSearch) => void;
}

const ANY = 'any';

export function EventFilterBar({ search: { type, namespace }, onChange }: EventFilterBarProps) {
  const [draft, setDraft] = useState(namespace ?? '');
  // One in the URL that this console does not know is offered too.
  const types = type === undefined || EVENT_TYPES.includes(type) ? EVENT_TYPES : [...EVENT_TYPES, type];
  const apply = (wanted: string): void =>
    onChange({ ...(type !== undefined && { type }), ...(wanted !== '' && { namespace: wanted }) });
  return (
    <form
      role="search"
      aria-label="Filter events"
      className={styles['filters']}
      onSubmit={(event) => {
        event.preventDefault();
        apply(draft.trim());
      }}
    >
      <Select
        label="Type"
        labelHidden
        options={[
          { value: ANY, label: 'All types' },
          ...types.map((each) => ({ value: each, label: eventWords(each).words })),
        ]}
        value={type ?? ANY}
        onChange={(next) =>
          onChange({ ...(next !== ANY && { type: next }), ...(namespace !== undefined && { namespace }) })
        }
      />
      <TextField
        label="Namespace"
        labelHidden
        type="search"
        placeholder="Namespace (exact match)"
        autoComplete="off"
        spellCheck={false}
        leading={<Search size={14} />}
        value={draft}
        onChange={({ target }) => {
          setDraft(target.value);
          if (target.value === '' && namespace !== undefined) apply('');
        }}
      />
      <button type="submit" className="visually-hidden">
        Apply filters
      </button>
    </form>
  );
}
