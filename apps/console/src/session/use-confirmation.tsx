import { ApiError } from '@svc/sdk';
import { useMutation } from '@tanstack/react-query';
import { useRef, useState, type FormEvent, type ReactNode } from 'react';
import { useSvc } from '../api/svc-context.ts';
import { Button } from '../ui/button.tsx';
import { Dialog, DialogActions } from '../ui/dialog.tsx';
import { FieldStack } from '../ui/field.tsx';
import { FormError } from '../ui/form-error.tsx';
import { formText } from '../ui/form-text.ts';
import { PasswordField } from '../ui/password-field.tsx';
import { useSession } from './use-session.ts';

export interface Confirmation {
  /** Runs the action. If the platform requires the password, asks for it and runs the action again. */
  confirmed: <Result>(action: () => Promise<Result>) => Promise<Result>;
  /** Render this next to the action, but outside of a form, which would receive its events. */
  confirmation: ReactNode;
}

interface Asked {
  proceed: () => void;
  cancel: () => void;
}

/** Confirms sensitive account changes, which require a recently confirmed sign-in. */
export function useConfirmation(): Confirmation {
  const [asked, setAsked] = useState<Asked | null>(null);
  const confirmed: Confirmation['confirmed'] = async (action) => {
    try {
      return await action();
    } catch (error) {
      if (!(error instanceof ApiError && error.code === 'CONFIRMATION_REQUIRED')) throw error;
    }
    await new Promise<void>((resolve, reject) => {
      setAsked({
        proceed: resolve,
        cancel: () => reject(new Error('Nothing was changed: the password was not confirmed.')),
      });
    });
    return action();
  };
  const close = (end: (asked: Asked) => void) => (): void => {
    if (asked !== null) end(asked);
    setAsked(null);
  };
  const confirmation = (
    <ConfirmationDialog
      open={asked !== null}
      onConfirmed={close(({ proceed }) => proceed())}
      onClose={close(({ cancel }) => cancel())}
    />
  );
  return { confirmed, confirmation };
}

interface ConfirmationDialogProps {
  open: boolean;
  onConfirmed: () => void;
  onClose: () => void;
}

function ConfirmationDialog({ open, onConfirmed, onClose }: ConfirmationDialogProps) {
  const password = useRef<HTMLInputElement>(null);
  return (
    <Dialog
      open={open}
      onClose={onClose}
      stacked
      title="Confirm it’s you"
      description="You signed in a while ago. Enter your password to continue. You won’t be asked again for 10 minutes."
      initialFocus={password}
    >
      <ConfirmationForm passwordRef={password} onConfirmed={onConfirmed} onClose={onClose} />
    </Dialog>
  );
}

interface ConfirmationFormProps extends Omit<ConfirmationDialogProps, 'open'> {
  passwordRef: React.RefObject<HTMLInputElement | null>;
}

function ConfirmationForm({ passwordRef, onConfirmed, onClose }: ConfirmationFormProps) {
  const svc = useSvc();
  const { me } = useSession();
  const check = useMutation({
    mutationFn: (password: string) => svc.accounts.confirm(password),
    onSuccess: onConfirmed,
    onError: () => passwordRef.current?.select(),
  });
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    check.mutate(formText(event.currentTarget, 'password'));
  };
  return (
    <form onSubmit={submit}>
      {/* Password managers look for the name that the password belongs to. */}
      <input type="hidden" name="email" value={me.user.email} autoComplete="username" />
      <FieldStack>
        <PasswordField ref={passwordRef} label="Password" name="password" autoComplete="current-password" required />
      </FieldStack>
      <FormError error={check.error} />
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" pending={check.isPending}>
          Confirm
        </Button>
      </DialogActions>
    </form>
  );
}
