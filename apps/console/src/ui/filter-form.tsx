import { Search } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { TextField } from './field.tsx';
import styles from './list.module.css';

/** The filters of a list in one row. Text fields apply on Enter, all others immediately. */
export function FilterForm({ label, children }: { label: string; children: ReactNode }) {
  return (
    <form role="search" aria-label={label} className={styles['filters']} onSubmit={(event) => event.preventDefault()}>
      {children}
    </form>
  );
}

export interface FilterFieldProps {
  label: string;
  placeholder?: string;
  /** The value in the URL. */
  value: string | undefined;
  icon?: ReactNode;
  maxLength?: number;
  /** Returns the error of a text; invalid text is not applied. */
  check?: (text: string) => string | undefined;
  /** Called with undefined if the field is empty. */
  onApply: (text: string | undefined) => void;
}

/** Applies on Enter, on blur and when emptied, but not on every key. */
export function FilterField({
  label,
  placeholder = label,
  value = '',
  icon,
  maxLength,
  check,
  onApply,
}: FilterFieldProps) {
  const [draft, setDraft] = useState({ text: value, of: value });
  const text = draft.of === value ? draft.text : value; // the URL changed elsewhere, so discard the draft
  const fault = text === '' ? undefined : check?.(text);
  const apply = (typed: string): void => {
    const wanted = typed.trim();
    if (wanted === value || (wanted !== '' && check?.(wanted) !== undefined)) return;
    onApply(wanted === '' ? undefined : wanted);
  };
  return (
    <TextField
      label={label}
      labelHidden
      placeholder={placeholder}
      type="search"
      autoComplete="off"
      spellCheck={false}
      maxLength={maxLength ?? 253}
      leading={icon ?? <Search size={14} />}
      value={text}
      error={fault}
      onChange={({ target }) => {
        setDraft({ text: target.value, of: value });
        if (target.value === '') apply('');
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter') apply(text);
      }}
      onBlur={() => apply(text)}
    />
  );
}
