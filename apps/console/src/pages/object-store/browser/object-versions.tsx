import type { ObjectVersion } from '@svc/sdk';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Download, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { bucketKey, downloadPath, useStore, versionsQuery } from '../../../api/object-store.ts';
import { useSvc } from '../../../api/svc-context.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Badge } from '../../../ui/badge.tsx';
import { IconButton } from '../../../ui/button.tsx';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { formatBytes } from '../../../ui/format-bytes.ts';
import { AbsoluteTime } from '../../../ui/time.tsx';
import styles from './browser.module.css';

export interface ObjectVersionsProps {
  bucket: string;
  objectKey: string;
  writable: boolean;
}

/** What the bucket kept of this key, the newest first. Not shown where there is only one. */
export function ObjectVersions({ bucket, objectKey, writable }: ObjectVersionsProps) {
  const store = useStore();
  const svc = useSvc();
  const workspace = useWorkspace();
  const queryClient = useQueryClient();
  const versions = useQuery(versionsQuery(svc, workspace, bucket, objectKey));
  const [deleting, setDeleting] = useState<ObjectVersion | null>(null);
  const deletion = useMutation({
    mutationFn: ({ version_id }: ObjectVersion) =>
      store.objects(bucket).delete(objectKey, version_id === null ? {} : { versionId: version_id }),
    onSuccess: () => setDeleting(null),
    onSettled: () => queryClient.invalidateQueries({ queryKey: bucketKey(workspace, bucket) }),
  });
  const list = versions.data?.versions ?? [];
  if (list.length < 2) return null;
  return (
    <section className={styles['dialogSection']}>
      <h3>Versions</h3>
      <ul className={styles['versions']}>
        {list.map((version) => (
          <li key={version.version_id} className={styles['version']}>
            <span className={styles['versionName']}>
              <AbsoluteTime at={version.last_modified} /> {version.is_latest && <Badge tone="ok">newest</Badge>}
              {version.delete_marker && <Badge tone="danger">deleted</Badge>}
            </span>
            <span className="muted">{version.delete_marker ? '' : formatBytes(version.size ?? 0)}</span>
            <span className={styles['rowActions']}>
              {!version.delete_marker && (
                <a
                  className={styles['iconLink']}
                  href={downloadPath(workspace, bucket, { key: objectKey, versionId: version.version_id })}
                  download
                  aria-label={`Download the version of ${version.last_modified}`}
                >
                  <Download size={14} />
                </a>
              )}
              {writable && (
                <IconButton
                  size="small"
                  label={`Delete the version of ${version.last_modified}`}
                  onClick={() => setDeleting(version)}
                >
                  <Trash2 size={14} />
                </IconButton>
              )}
            </span>
          </li>
        ))}
      </ul>
      <ConfirmDialog
        open={deleting !== null}
        onClose={() => {
          deletion.reset();
          setDeleting(null);
        }}
        onConfirm={() => {
          if (deleting !== null) deletion.mutate(deleting);
        }}
        title={deleting?.delete_marker === true ? 'Bring the object back?' : 'Delete this version?'}
        action={deleting?.delete_marker === true ? 'Remove the marker' : 'Delete version'}
        pending={deletion.isPending}
        error={deletion.error}
      >
        {deleting?.delete_marker === true
          ? 'The version below it is the newest again.'
          : 'A version that is deleted by name goes for good.'}
      </ConfirmDialog>
    </section>
  );
}
