import { AlertDialog } from '@base-ui/react/alert-dialog';
import { useRef, useState, type ReactNode } from 'react';
import { Button } from './button.tsx';
import styles from './dialog.module.css';
import { TextField } from './field.tsx';
import { FormError } from './form-error.tsx';

export interface ConfirmDialogProps {
  open: boolean;
  onClose: () => void;
  onConfirm: () => void;
  title: string;
  /** What will happen, and what cannot be undone. */
  children: ReactNode;
  action: string;
  /** For questions about cancelling something, where “Cancel” would be ambiguous. */
  cancelLabel?: string;
  pending: boolean;
  error: unknown;
  /** The person types this first; for what destroys other people's work. */
  typeToConfirm?: string;
}

export function ConfirmDialog(props: ConfirmDialogProps) {
  const {
    open,
    onClose,
    onConfirm,
    title,
    children,
    action,
    cancelLabel = 'Cancel',
    pending,
    error,
    typeToConfirm,
  } = props;
  const cancel = useRef<HTMLButtonElement>(null);
  const [typed, setTyped] = useState('');
  const allowed = typeToConfirm === undefined || typed.trim() === typeToConfirm;
  return (
    <AlertDialog.Root
      open={open}
      onOpenChange={(next) => {
        if (!next) onClose();
      }}
    >
      <AlertDialog.Portal>
        {/* Over another dialog too: what is asked stands alone. */}
        <AlertDialog.Backdrop className={styles['backdrop']} forceRender />
        <AlertDialog.Popup className={styles['popup']} initialFocus={cancel}>
          <header className={styles['header']}>
            <AlertDialog.Title className={styles['title']}>{title}</AlertDialog.Title>
          </header>
          <AlertDialog.Description className={styles['description']}>{children}</AlertDialog.Description>
          <form
            className={styles['body']}
            onSubmit={(event) => {
              event.preventDefault();
              if (allowed && !pending) onConfirm();
            }}
          >
            {typeToConfirm !== undefined && (
              <TextField
                label={`Type “${typeToConfirm}” to confirm`}
                value={typed}
                autoComplete="off"
                spellCheck={false}
                onChange={(event) => setTyped(event.target.value)}
              />
            )}
            <FormError error={error} />
            <footer className={styles['actions']}>
              <Button ref={cancel} onClick={onClose}>
                {cancelLabel}
              </Button>
              <Button type="submit" variant="danger" pending={pending} disabled={!allowed}>
                {action}
              </Button>
            </footer>
          </form>
        </AlertDialog.Popup>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
