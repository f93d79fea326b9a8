import type { StoredObject } from '@svc/sdk';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { downloadPath, textPreviewQuery } from '../../../api/object-store.ts';
import { useSvc } from '../../../api/svc-context.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { formatBytes } from '../../../ui/format-bytes.ts';
import { LoadingRegion } from '../../../ui/states.tsx';
import styles from './browser.module.css';
import { IMAGE_PREVIEW_BYTES, previewKindOf, TEXT_PREVIEW_BYTES } from './preview-kind.ts';

export interface ObjectPreviewProps {
  bucket: string;
  object: StoredObject;
}

/** Preview of an object, as far as a browser can show it without running any of its code. */
export function ObjectPreview({ bucket, object }: ObjectPreviewProps) {
  const workspace = useWorkspace();
  const [broken, setBroken] = useState(false);
  const kind = object.size === 0 ? 'none' : previewKindOf(object.key, object.content_type ?? '');
  const source = downloadPath(workspace, bucket, { key: object.key, inline: true });
  if (kind === 'none') return null;
  if (broken) return <Note>Preview not available. The file may not match its content type.</Note>;
  switch (kind) {
    case 'text':
      return <TextPreview bucket={bucket} object={object} />;
    case 'image':
      if (object.size > IMAGE_PREVIEW_BYTES) return <Note>Too large to preview.</Note>;
      return (
        <div className={styles['preview']}>
          <img src={source} alt={`Preview of ${object.key}`} onError={() => setBroken(true)} />
        </div>
      );
    case 'video':
      return (
        <div className={styles['preview']}>
          <video
            src={source}
            controls
            preload="metadata"
            aria-label={`Preview of ${object.key}`}
            onError={() => setBroken(true)}
          />
        </div>
      );
    case 'audio':
      return (
        <div className={styles['preview']}>
          <audio
            src={source}
            controls
            preload="metadata"
            aria-label={`Preview of ${object.key}`}
            onError={() => setBroken(true)}
          />
        </div>
      );
  }
}

function TextPreview({ bucket, object }: ObjectPreviewProps) {
  const svc = useSvc();
  const workspace = useWorkspace();
  const text = useQuery(textPreviewQuery(svc, workspace, bucket, object, TEXT_PREVIEW_BYTES));
  if (text.isError) return <Note>Could not load the text.</Note>;
  if (text.data === undefined) return <LoadingRegion height="8rem" />;
  return (
    <div className={styles['preview']} tabIndex={0} role="region" aria-label={`Preview of ${object.key}`}>
      <pre>{text.data}</pre>
      {object.size > TEXT_PREVIEW_BYTES && (
        <p className={styles['previewNote']}>Showing the first {formatBytes(TEXT_PREVIEW_BYTES)}.</p>
      )}
    </div>
  );
}

function Note({ children }: { children: React.ReactNode }) {
  return (
    <div className={styles['preview']}>
      <p className={styles['previewNote']}>{children}</p>
    </div>
  );
}
