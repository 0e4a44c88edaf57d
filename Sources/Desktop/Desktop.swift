// Desktop
