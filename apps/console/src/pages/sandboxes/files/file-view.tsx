import { ApiError } from '@svc/sdk';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useEffect, useState } from 'react';
import { useSandboxes } from '../../../api/sandboxes.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { EmptyState, Skeleton } from '../../../ui/states.tsx';
import { FileFrame, type FileViewProps } from './file-frame.tsx';
import { FilesError } from './files-error.tsx';
import { openFileQuery } from './open-file.ts';
import { nameOf } from './file-paths.ts';
import styles from './files.module.css';

interface ImageViewProps {
  path: string;
  type: string;
  bytes: Uint8Array<ArrayBuffer>;
}

/** The editor is a separate script, loaded with the first text file. */
const TextEditor = lazy(async () => ({ default: (await import('./text-editor.tsx')).TextEditor }));

/** Shows a file according to its type. */
export function FileView(props: FileViewProps) {
  const { owner, path, onFolder } = props;
  const api = useSandboxes();
  const workspace = useWorkspace();
  const opened = useQuery(openFileQuery(api, workspace, owner, path));
  const isFolder = opened.error instanceof ApiError && opened.error.code === 'IS_A_DIRECTORY';
  useEffect(() => {
    if (isFolder) onFolder();
  }, [isFolder, onFolder]);
  if (opened.isError && !isFolder) {
    return (
      <FileFrame {...props}>
        <FilesError error={opened.error} onRetry={() => void opened.refetch()} />
      </FileFrame>
    );
  }
  const loading = (
    <FileFrame {...props} loading>
      <Skeleton width="100%" height="100%" />
    </FileFrame>
  );
  if (opened.data === undefined) return loading;
  switch (opened.data.kind) {
    case 'text':
      return (
        <Suspense fallback={loading}>
          <TextEditor {...props} opened={opened.data} onReload={() => void opened.refetch()} />
        </Suspense>
      );
    case 'image':
      return (
        <FileFrame {...props}>
          <ImageView path={path} bytes={opened.data.bytes} type={opened.data.type} />
        </FileFrame>
      );
    case 'other':
      return (
        <FileFrame {...props}>
          <EmptyState title="Preview not available">
            The file is not text or is larger than 2 MiB. Download it instead.
          </EmptyState>
        </FileFrame>
      );
  }
}

function ImageView({ path, type, bytes }: ImageViewProps) {
  const [source, setSource] = useState<string | null>(null);
  const [broken, setBroken] = useState(false);
  useEffect(() => {
    const url = URL.createObjectURL(new Blob([bytes], { type }));
    setSource(url);
    return () => URL.revokeObjectURL(url);
  }, [bytes, type]);
  return (
    <div className={styles['look']}>
      {broken && <p className="muted">Preview not available. The file may not be a valid image.</p>}
      {source !== null && !broken && (
        <img src={source} alt={`Preview of ${nameOf(path)}`} onError={() => setBroken(true)} />
      )}
    </div>
  );
}
