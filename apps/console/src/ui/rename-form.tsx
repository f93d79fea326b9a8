import { useState } from 'react';
import { Button } from './button.tsx';
import { TextField } from './field.tsx';
import { FormError } from './form-error.tsx';
import styles from './inline-form.module.css';

export interface RenameFormProps {
  name: string;
  onRename: (name: string) => void;
  state: { isPending: boolean; error: unknown };
}

/** A one-row form for a name. */
export function RenameForm({ name, onRename, state }: RenameFormProps) {
  const [draft, setDraft] = useState(name);
  const text = draft.trim();
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        onRename(text);
      }}
    >
      <div className={styles['inline']}>
        <TextField
          label="Name"
          labelHidden
          className={styles['field'] ?? ''}
          value={draft}
          required
          maxLength={100}
          autoComplete="off"
          onChange={(event) => setDraft(event.target.value)}
        />
        <Button type="submit" pending={state.isPending} disabled={text === name || text === ''}>
          Save
        </Button>
      </div>
      <FormError error={state.error} />
    </form>
  );
}
