import type { StoredObject } from '@svc/sdk';
import { useQuery } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { downloadPath, objectQuery } from '../../../api/object-store.ts';
import { useSvc } from '../../../api/svc-context.ts';
import { mayWrite } from '../../../session/administers.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { buttonClass } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { formatBytes } from '../../../ui/format-bytes.ts';
import { formatCount } from '../../../ui/format-number.ts';
import { Definitions } from '../../../ui/page.tsx';
import { EmptyState, ErrorState, LoadingRegion } from '../../../ui/states.tsx';
import { AbsoluteTime } from '../../../ui/time.tsx';
import styles from './browser.module.css';
import { nameIn, folderOf } from './folder-path.ts';
import { ObjectPreview } from './object-preview.tsx';
import { ObjectVersions } from './object-versions.tsx';
import { ShareObject } from './share-object.tsx';

export interface ObjectDialogProps {
  bucket: string;
  objectKey: string | null;
  onClose: () => void;
}

/** Details of one object. */
export function ObjectDialog({ bucket, objectKey, onClose }: ObjectDialogProps) {
  return (
    <Dialog
      open={objectKey !== null}
      onClose={onClose}
      width="wide"
      title={objectKey === null ? '' : nameIn(folderOf(objectKey), objectKey)}
      description={objectKey === null ? undefined : `${bucket}/${objectKey}`}
    >
      {objectKey !== null && <ObjectDetails key={objectKey} bucket={bucket} objectKey={objectKey} />}
    </Dialog>
  );
}

function ObjectDetails({ bucket, objectKey }: { bucket: string; objectKey: string }) {
  const svc = useSvc();
  const workspace = useWorkspace();
  const details = useQuery(objectQuery(svc, workspace, bucket, objectKey));
  if (details.isError) return <ErrorState error={details.error} onRetry={() => void details.refetch()} />;
  if (details.data === undefined) return <LoadingRegion height="12rem" />;
  const versions = <ObjectVersions bucket={bucket} objectKey={objectKey} writable={mayWrite(workspace)} />;
  if (details.data === null) {
    return (
      <>
        <EmptyState title="Object not found">It may have been deleted.</EmptyState>
        {versions}
      </>
    );
  }
  const object = details.data;
  return (
    <>
      <ObjectPreview bucket={bucket} object={object} />
      <div className={styles['dialogActions']}>
        <a
          className={buttonClass({ variant: 'primary' })}
          href={downloadPath(workspace, bucket, { key: objectKey })}
          download
        >
          <Download size={15} /> Download
        </a>
      </div>
      <Definitions items={renderFacts(object)} />
      <ShareObject bucket={bucket} object={object} />
      {versions}
    </>
  );
}

function renderFacts(object: StoredObject) {
  return [
    ['Size', `${formatBytes(object.size)} (${formatCount(object.size)} bytes)`],
    ['Modified', <AbsoluteTime key="modified" at={object.last_modified} />],
    ['Content type', object.content_type ?? 'Not set'],
    ['ETag', <code key="etag">{object.etag}</code>],
  ] as const;
}
