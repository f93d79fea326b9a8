import type { ObjectVersion } from '@svc/sdk';
import { useQuery } from '@tanstack/react-query';
import { Download, RotateCcw, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { downloadPath, versionsQuery } from '../../../api/object-store.ts';
import { useSvc } from '../../../api/svc-context.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { Badge } from '../../../ui/badge.tsx';
import { Button, IconButton } from '../../../ui/button.tsx';
import { ConfirmDialog } from '../../../ui/confirm-dialog.tsx';
import { formatAbsolute } from '../../../ui/format-time.ts';
import { formatBytes } from '../../../ui/format-bytes.ts';
import { AbsoluteTime } from '../../../ui/time.tsx';
import styles from './browser.module.css';
import { useVersionChanges } from './use-version-changes.ts';

export interface ObjectVersionsProps {
  bucket: string;
  objectKey: string;
  writable: boolean;
}

/** Retained versions of a key, newest first. Hidden if there is only the object itself. */
export function ObjectVersions({ bucket, objectKey, writable }: ObjectVersionsProps) {
  const svc = useSvc();
  const workspace = useWorkspace();
  const versions = useQuery(versionsQuery(svc, workspace, bucket, objectKey));
  const [deleting, setDeleting] = useState<ObjectVersion | null>(null);
  const { removal, restore } = useVersionChanges(bucket);
  const list = versions.data?.versions ?? [];
  if (list.length < 2 && list[0]?.delete_marker !== true) return null;
  const close = (): void => {
    removal.reset();
    setDeleting(null);
  };
  return (
    <section className={styles['dialogSection']}>
      <h3>Versions</h3>
      <ul className={styles['versions']} aria-label={`Versions of ${objectKey}`}>
        {list.map((version) => (
          <VersionLine
            key={version.version_id}
            bucket={bucket}
            version={version}
            restoring={restore.isPending && restore.variables.version_id === version.version_id}
            onRestore={writable && mayBeRestored(version) ? () => restore.mutate(version) : null}
            onDelete={writable ? () => setDeleting(version) : null}
          />
        ))}
      </ul>
      <ConfirmDialog
        open={deleting !== null}
        onClose={close}
        onConfirm={() => {
          if (deleting !== null) removal.mutate(deleting, { onSuccess: close });
        }}
        title={deleting?.delete_marker === true ? 'Delete this delete marker?' : 'Delete this version?'}
        action={deleting?.delete_marker === true ? 'Delete marker' : 'Delete version'}
        pending={removal.isPending}
        error={removal.error}
      >
        {deleting?.delete_marker === true
          ? 'If it is the latest version, the object becomes visible again.'
          : 'This version is deleted permanently. This cannot be undone.'}
      </ConfirmDialog>
    </section>
  );
}

/** The newest version needs no restore, and only the newest delete marker hides anything. */
function mayBeRestored(version: ObjectVersion): boolean {
  return version.is_latest === version.delete_marker;
}

interface VersionLineProps {
  bucket: string;
  version: ObjectVersion;
  restoring: boolean;
  onRestore: (() => void) | null;
  onDelete: (() => void) | null;
}

function VersionLine({ bucket, version, restoring, onRestore, onDelete }: VersionLineProps) {
  const workspace = useWorkspace();
  const { key, version_id: versionId, delete_marker: isMarker, last_modified: at } = version;
  const what = `${isMarker ? 'delete marker' : 'version'} from ${formatAbsolute(at)}`;
  return (
    <li className={styles['version']}>
      <span className={styles['versionName']}>
        <AbsoluteTime at={at} /> {version.is_latest && !isMarker && <Badge tone="ok">latest</Badge>}
        {isMarker && <Badge tone="danger">deleted</Badge>}
      </span>
      <span className="muted">{isMarker ? '' : formatBytes(version.size ?? 0)}</span>
      <span className={styles['rowActions']}>
        {onRestore !== null && (
          <Button
            size="small"
            variant="ghost"
            icon={<RotateCcw size={13} />}
            pending={restoring}
            aria-label={`Restore ${isMarker ? 'the deleted object' : what}`}
            onClick={onRestore}
          >
            Restore
          </Button>
        )}
        {!isMarker && (
          <a
            className={styles['iconLink']}
            href={downloadPath(workspace, bucket, { key, versionId })}
            download
            aria-label={`Download ${what}`}
          >
            <Download size={14} />
          </a>
        )}
        {onDelete !== null && (
          <IconButton size="small" label={`Delete ${what}`} onClick={onDelete}>
            <Trash2 size={14} />
          </IconButton>
        )}
      </span>
    </li>
  );
}
