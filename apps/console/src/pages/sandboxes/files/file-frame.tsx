import { Download, X } from 'lucide-react';
import type { ReactNode } from 'react';
import { fileDownloadPath } from '../../../api/file-requests.ts';
import type { FileOwner } from '../../../api/sandbox-types.ts';
import { useWorkspace } from '../../../session/use-session.ts';
import { buttonClass, IconButton } from '../../../ui/button.tsx';
import styles from './files.module.css';

export interface FileViewProps {
  owner: FileOwner;
  path: string;
  onClose: () => void;
  /** Called if it turns out to be a folder, as links may. */
  onFolder: () => void;
}

export interface FileFrameProps extends FileViewProps {
  /** Content next to the path. */
  state?: ReactNode;
  actions?: ReactNode;
  loading?: boolean;
  children: ReactNode;
}

export function FileFrame({ owner, path, onClose, state, actions, loading = false, children }: FileFrameProps) {
  const workspace = useWorkspace();
  return (
    <section className={styles['editor']} aria-label={path} aria-busy={loading}>
      <header className={styles['editorBar']}>
        <span className={styles['editorPath']}>
          <code>{path}</code>
          {state}
        </span>
        <span className={styles['editorActions']}>
          {actions}
          <a
            className={buttonClass({ size: 'small' })}
            href={fileDownloadPath(workspace, owner, path)}
            download
            aria-label={`Download ${path}`}
          >
            <Download size={14} />
          </a>
          <IconButton label="Close file" size="small" onClick={onClose}>
            <X size={15} />
          </IconButton>
        </span>
      </header>
      {children}
    </section>
  );
}
