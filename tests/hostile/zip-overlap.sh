# Members that share their bytes, as in a bomb that needs no zip within a zip.
. "$(dirname "$0")/common.sh"
craft zip-overlap 5000 >f.zip
run 2 check f.zip --gpu sm_90
problem 'members share bytes'
seconds 3
