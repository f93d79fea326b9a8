import { useRef } from 'react';
import { Button } from '../../../ui/button.tsx';
import { Dialog, DialogActions } from '../../../ui/dialog.tsx';
import { TextField } from '../../../ui/field.tsx';
import { FormError } from '../../../ui/form-error.tsx';
import { formText } from '../../../ui/form-text.ts';

export interface NameDialogProps {
  open: boolean;
  onClose: () => void;
  title: string;
  description: string;
  action: string;
  state: { isPending: boolean; error: unknown };
  /** Called with an empty name if none was given. */
  onSubmit: (name: string) => void;
}

/** Asks for an optional name. */
export function NameDialog({ open, onClose, title, description, action, state, onSubmit }: NameDialogProps) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <Dialog open={open} onClose={onClose} initialFocus={input} title={title} description={description}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (!state.isPending) onSubmit(formText(event.currentTarget, 'name').trim());
        }}
      >
        <TextField
          ref={input}
          label="Name"
          name="name"
          maxLength={64}
          placeholder="Leave empty for a generated name"
          autoComplete="off"
          spellCheck={false}
        />
        <FormError error={state.error} />
        <DialogActions>
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" pending={state.isPending}>
            {action}
          </Button>
        </DialogActions>
      </form>
    </Dialog>
  );
}
