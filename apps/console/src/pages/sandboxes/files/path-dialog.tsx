import type { RemoteFiles } from '@svc/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { filesKey } from '../../../api/query-keys.ts';
import type { FileOwner } from '../../../api/sandbox-types.ts';
import { filesOf, useSandboxes } from '../../../api/sandboxes.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Button } from '../../../ui/button.tsx';
import { Dialog, DialogActions } from '../../../ui/dialog.tsx';
import { TextField } from '../../../ui/field.tsx';
import { FormError } from '../../../ui/form-error.tsx';
import { resolvePath } from './file-paths.ts';

export interface PathQuestion {
  title: string;
  description: string;
  action: string;
  label: string;
  value: string;
  /** Performs the action. */
  act: (files: RemoteFiles, path: string) => Promise<unknown>;
}

export interface PathDialogProps {
  /** Null if the dialog is closed. */
  question: PathQuestion | null;
  owner: FileOwner;
  folder: string;
  onClose: () => void;
  onDone: (path: string) => void;
}

/** Asks for one path, such as that of a new folder. */
export function PathDialog({ question, ...form }: PathDialogProps) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <Dialog
      open={question !== null}
      onClose={form.onClose}
      initialFocus={input}
      title={question?.title ?? ''}
      description={question?.description}
    >
      {question !== null && <PathForm question={question} inputRef={input} {...form} />}
    </Dialog>
  );
}

type PathFormProps = Omit<PathDialogProps, 'question'> & {
  question: PathQuestion;
  inputRef: React.RefObject<HTMLInputElement | null>;
};

function PathForm({ question, inputRef, owner, folder, onClose, onDone }: PathFormProps) {
  const api = useSandboxes();
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const [typed, setTyped] = useState(question.value);
  const path = resolvePath(folder, typed.trim());
  const act = useMutation({
    mutationFn: () => question.act(filesOf(api, owner), path),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: filesKey(workspace, owner) });
      onClose();
      onDone(path);
    },
  });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (typed.trim() !== '') act.mutate();
      }}
    >
      <TextField
        ref={inputRef}
        label={question.label}
        value={typed}
        required
        maxLength={4_000}
        autoComplete="off"
        spellCheck={false}
        hint={typed.includes('/') ? path : undefined}
        onChange={(event) => setTyped(event.target.value)}
      />
      <FormError error={act.error} />
      <DialogActions>
        <Button onClick={onClose}>Cancel</Button>
        <Button type="submit" variant="primary" pending={act.isPending}>
          {question.action}
        </Button>
      </DialogActions>
    </form>
  );
}
