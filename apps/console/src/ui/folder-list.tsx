import { Link, type LinkProps } from '@tanstack/react-router';
import { ChevronRight } from 'lucide-react';
import type { ReactNode } from 'react';
import styles from './list.module.css';

type FolderLink = Pick<LinkProps, 'to' | 'params' | 'search'>;

export interface FolderStep {
  name: string;
  link: FolderLink;
  /** For names that are not descriptive on their own. */
  label?: string;
}

export interface FolderBarProps {
  /** The folders from the root to the current one. */
  steps: readonly FolderStep[];
  /** Content at the end of the row, such as actions for selected entries. */
  children?: ReactNode;
}

/** The path of a folder, above its entries. */
export function FolderBar({ steps, children }: FolderBarProps) {
  return (
    <div className={styles['toolbar']}>
      <nav aria-label="Folders" className={styles['path']}>
        {steps.map(({ name, link, label }, index) => (
          <span key={index} className={styles['step']}>
            {index > 0 && <ChevronRight size={13} aria-hidden="true" />}
            <Link {...link} aria-label={label} aria-current={index === steps.length - 1 ? 'page' : undefined}>
              {name}
            </Link>
          </span>
        ))}
      </nav>
      {children}
    </div>
  );
}

export interface EntryNameProps {
  icon: ReactNode;
  name: string;
  /** Target of the name; without a link, `onOpen` is called. */
  link?: FolderLink;
  onOpen?: () => void;
  /** Content after the name, such as a badge. */
  children?: ReactNode;
}

/** The name of a file or folder with its icon. */
export function EntryName({ icon, name, link, onOpen, children }: EntryNameProps) {
  const content = (
    <>
      {icon}
      <span className={styles['entryName']}>{name}</span>
      {children}
    </>
  );
  if (link !== undefined) {
    return (
      <Link {...link} className={styles['entry']}>
        {content}
      </Link>
    );
  }
  return (
    <button type="button" className={styles['entry']} onClick={onOpen}>
      {content}
    </button>
  );
}
