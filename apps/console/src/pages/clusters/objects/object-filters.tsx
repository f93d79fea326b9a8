import { Search } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { TextField } from '../../../ui/field.tsx';
import { nameFault, type ObjectsSearch } from './objects-search.ts';
import styles from './objects.module.css';

export interface ObjectFiltersProps {
  /** What is listed, such as `pods`. */
  what: string;
  search: ObjectsSearch;
  onChange: (search: ObjectsSearch) => void;
  withNamespace?: boolean;
  /** Further fields, before the others. */
  children?: ReactNode;
}

/** Whoever takes a filter away elsewhere gives the component another key. */
export function ObjectFilters({ what, search, onChange, withNamespace = true, children }: ObjectFiltersProps) {
  const [draft, setDraft] = useState({ name: search.name ?? '', namespace: search.namespace ?? '' });
  const faults = { name: nameFault(draft.name), namespace: nameFault(draft.namespace) };
  const apply = ({ name, namespace }: typeof draft): void => {
    if (nameFault(name) !== undefined || nameFault(namespace) !== undefined) return;
    const { name: _name, namespace: _namespace, ...rest } = search;
    onChange({ ...rest, ...(name !== '' && { name }), ...(namespace !== '' && { namespace }) });
  };
  const field = (key: 'name' | 'namespace', label: string) => (
    <TextField
      label={label}
      labelHidden
      type="search"
      placeholder={label}
      autoComplete="off"
      spellCheck={false}
      leading={<Search size={14} />}
      value={draft[key]}
      error={faults[key]}
      onChange={({ target }) => {
        const next = { ...draft, [key]: target.value };
        setDraft(next);
        if (target.value === '') apply(next);
      }}
    />
  );
  return (
    <form
      role="search"
      aria-label={`Filter ${what}`}
      className={styles['filters']}
      onSubmit={(event) => {
        event.preventDefault();
        apply(draft);
      }}
    >
      {children}
      {field('name', 'Name contains')}
      {withNamespace && field('namespace', 'Namespace')}
      <button type="submit" className="visually-hidden">
        Apply filters
      </button>
    </form>
  );
}
