import { ApiError } from '@svc/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useBlocker } from '@tanstack/react-router';
import { Save } from 'lucide-react';
import { useState } from 'react';
import { filesKey } from '../../../api/query-keys.ts';
import type { FileOwner } from '../../../api/sandbox-types.ts';
import { filesOf, useSandboxes } from '../../../api/sandboxes.ts';
import { CodeEditor } from '../../../editor/code-editor.tsx';
import { mayWrite } from '../../../session/administers.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Badge } from '../../../ui/badge.tsx';
import { Button } from '../../../ui/button.tsx';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { useToasts } from '../../../ui/toast.tsx';
import { nameOf } from './file-paths.ts';
import { FileFrame, type FileViewProps } from './file-frame.tsx';
import type { OpenedText } from './open-file.ts';

export interface TextEditorProps extends FileViewProps {
  opened: OpenedText;
  /** Reloads the file. */
  onReload: () => void;
}

/** An editor for a text file. A save that would overwrite a newer version asks first. */
export function TextEditor(props: TextEditorProps) {
  const { owner, path, opened } = props;
  const writable = mayWrite(useWorkspace());
  const [text, setText] = useState(opened.text);
  const { save, conflict, dismissConflict, saved } = useSave(owner, path, opened);
  const changed = text !== saved;
  const blocker = useBlocker({ shouldBlockFn: () => changed, enableBeforeUnload: changed, withResolver: true });
  const trySave = (): void => {
    if (writable && !save.isPending) save.mutate({ text, force: false });
  };
  return (
    <FileFrame
      {...props}
      state={changed ? <Badge tone="warn">unsaved</Badge> : !writable && <Badge>read-only</Badge>}
      actions={
        writable && (
          <Button
            size="small"
            variant="primary"
            icon={<Save size={14} />}
            pending={save.isPending}
            disabled={!changed}
            title="Ctrl+S"
            onClick={trySave}
          >
            Save
          </Button>
        )
      }
    >
      <CodeEditor name={nameOf(path)} text={opened.text} readOnly={!writable} onChange={setText} onSave={trySave} />
      <ConfirmDialog
        open={conflict}
        onClose={dismissConflict}
        onConfirm={() => save.mutate({ text, force: true })}
        title={`${nameOf(path)} has changed`}
        action="Overwrite"
        pending={save.isPending}
        error={null}
      >
        The file changed after you opened it. Overwriting discards those changes. Cancel keeps your text in the editor.
      </ConfirmDialog>
      <ConfirmDialog
        open={blocker.status === 'blocked'}
        onClose={() => blocker.reset?.()}
        onConfirm={() => blocker.proceed?.()}
        title="Leave without saving?"
        action="Leave"
        pending={false}
        error={null}
      >
        Your changes to {nameOf(path)} will be lost.
      </ConfirmDialog>
    </FileFrame>
  );
}

interface SaveRequest {
  text: string;
  /** Overwrites even if the file has changed. */
  force: boolean;
}

function useSave(owner: FileOwner, path: string, opened: OpenedText) {
  const files = filesOf(useSandboxes(), owner);
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const { done, failed } = useToasts();
  const [known, setKnown] = useState({ text: opened.text, etag: opened.etag });
  const [conflict, setConflict] = useState(false);
  const save = useMutation({
    mutationFn: async ({ text, force }: SaveRequest): Promise<boolean> => {
      try {
        const { etag } = await files.write(path, text, force || known.etag === null ? {} : { ifMatch: known.etag });
        setKnown({ text, etag });
        return true;
      } catch (error) {
        if (error instanceof ApiError && error.code === 'PRECONDITION_FAILED') return false;
        throw error;
      }
    },
    onSuccess: (wasSaved) => {
      setConflict(!wasSaved);
      if (wasSaved) done(`${nameOf(path)} saved`);
      return queryClient.invalidateQueries({ queryKey: filesKey(workspace, owner) });
    },
    onError: (error) => failed(`Could not save ${nameOf(path)}`, error),
  });
  return { save, conflict, dismissConflict: () => setConflict(false), saved: known.text };
}
